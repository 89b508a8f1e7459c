"""The array aliases every module speaks, the one error, and the few checks all share.

Axis names used in every docstring: ``rows`` (single annotations), ``items``, ``classes``,
``annotators``, ``draws`` (possible truths), ``replicates`` (resamples), ``models``.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.types.words import Hint, fitted, in_command, printable, shortened

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
Names = tuple[str, ...]
Pairs = tuple[tuple[str, str], ...]  # a word and what it stands for
Progress = Callable[[int, int], None]  # is told how much is done, of how much
PerItem = Floats  # (items,)
PerReplicate = Floats  # (replicates,)
ItemsByClasses = Floats  # (items, classes), each row a distribution
ItemsByReplicates = NDArray[Any]  # (items, replicates), replicates contiguous

Scalar = TypeVar("Scalar", bound=np.generic)
LONGEST, WORDS = 240, 60  # letters of a short representation, and of a text in it
MOST_DRAWN = 100_000  # how often anything is drawn anew, trained or simulated
LONGEST_MESSAGE = 600  # letters of what an error says
_LONGEST_MEANT, _MOST_MEANT = 200, 20_000  # letters of a name, and names, that are compared
_DIGITS = 18  # of numbers that are compared as such


class InputError(ValueError):
    """The data given by the caller cannot be used; the message says how to mend it.

    Parameters
    ----------
    where, got, expected, do
        The four parts of the message: the place, what stands there, what should stand
        there, and what to do about it. The message is one line that a terminal can show, of
        at most `LONGEST_MESSAGE` letters, however long what it quotes is.

    Examples
    --------
    >>> print(InputError("item 17", "probabilities sum to 1.2", "1", "divide by the sum"))
    item 17: probabilities sum to 1.2, expected 1; divide by the sum
    """

    __module__ = "equipoise"  # where users import it from

    def __init__(self, where: str, got: str, expected: str, do: str) -> None:
        super().__init__(_message(where, got, expected, do))
        self.where, self.got, self.expected, self.do = where, got, expected, do

    def in_command(self, options: Collection[str] | None = None) -> str:
        """The message in the words of a command that has these options; None is all of them.

        Examples
        --------
        >>> from equipoise.types.words import Option, hint
        >>> do = hint("read it with {}", Option("kind", "interval"))
        >>> print(InputError("a.csv", "3.5", "a class", do).in_command())
        a.csv: 3.5, expected a class; read it with --kind interval
        """
        expected, do = (in_command(part, options) for part in (self.expected, self.do))
        return _message(self.where, self.got, expected, do)

    def renamed(self, flags: Mapping[str, str]) -> "InputError":
        """The same for a command whose options for some keywords have other names."""
        expected, do = (
            part.renamed(flags) if isinstance(part, Hint) else part
            for part in (self.expected, self.do)
        )
        return InputError(self.where, self.got, expected, do)

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str, str, str]]:
        """Pickle with all four parts."""
        return type(self), (self.where, self.got, self.expected, self.do)


def _message(*parts: str) -> str:
    """The four parts in one line; the longest are cut where it would be too long."""
    around = len(": , expected ; ")
    where, got, expected, do = fitted(parts, LONGEST_MESSAGE - around)
    return printable(f"{where}: {got}, expected {expected}; {do}").replace("\n", " ")


def quoted(name: object) -> str:
    """A name as messages quote it, short.

    Examples
    --------
    >>> quoted("a b"), quoted("x" * 1000)
    ("'a b'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ... xxxxxxxxxxxxxxxxxx'")
    """
    return repr(shortened(name, WORDS) if isinstance(name, str) else name)


def require_whole(
    where: str,
    value: object,
    *,
    least: int = 0,
    most: int | None = None,
    do: str = "mend it",
) -> int:
    """Return a whole number of at least `least`, or refuse it.

    Examples
    --------
    >>> require_whole("draws", 40, least=1)
    40
    """
    number = int(value) if isinstance(value, int | np.integer) else 0
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or number < least or (most is not None and number > most):
        ends = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        shown = shortened(repr(value), WORDS) if number < 10**4000 else "a huge number"
        raise InputError(where, shown, f"a whole number {ends}", do)
    return number


def require_drawn(where: str, value: object, *, least: int = 1, do: str = "mend it") -> int:
    """Return how often something is drawn anew, or refuse it: memory and time end somewhere.

    Examples
    --------
    >>> require_drawn("replicates", 10**9, do="1000 is usual")
    Traceback (most recent call last):
    ...
    equipoise.InputError: replicates: 1000000000, expected a whole number from 1 to ...
    """
    return require_whole(where, value, least=least, most=MOST_DRAWN, do=do)


def require_memory(where: str, size: float, do: str) -> None:
    """Refuse what takes more memory than is left, before it is taken.

    Parameters
    ----------
    size
        Bytes that it takes.

    Examples
    --------
    >>> require_memory("scores", 2.0**70, "give fewer models")
    Traceback (most recent call last):
    ...
    equipoise.InputError: scores: 1,099,511,627,776.0 GiB of memory, expected at most ...
    """
    left = _memory_left()
    if size > left:
        raise InputError(
            where,
            f"{size / 2**30:,.1f} GiB of memory",
            f"at most the {left / 2**30:,.1f} GiB that are left",
            do,
        )


def out_of_memory(where: str, error: MemoryError) -> InputError:
    """The error for what took more memory than there is, where nobody could know before."""
    got = " ".join(f"more memory than there is ({error})".split())
    do = "ask about fewer classes, items, models or analyses"
    return InputError(where, got, "what the machine, or its limit, has left", do)


def _memory_left() -> float:
    """Bytes that the machine has left, and this process within its limit; else infinite."""
    left = [math.inf]
    try:
        import resource

        left.append(1.0 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        facts = Path("/proc/meminfo").read_text(encoding="ascii").partition("MemAvailable:")[2]
        if facts:
            left.append(1024.0 * int(facts.split()[0]))
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
            left.append(float(most - resource.getpagesize() * int(pages)))
    except (ImportError, OSError, ValueError, IndexError):
        pass
    return min(left)


def require_number(
    where: str,
    value: object,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    do: str = "correct it",
) -> float:
    """Return a finite number strictly between two others, or refuse it.

    Examples
    --------
    >>> require_number("level", 0.95, above=0, below=1)
    0.95
    >>> require_number("level", "0.95", above=0, below=1, do="try 0.95")
    Traceback (most recent call last):
    ...
    equipoise.InputError: level: '0.95', expected a number between 0 and 1; try 0.95
    """
    real = isinstance(value, int | float | np.integer | np.floating)
    number = float(str(value)) if real and not isinstance(value, bool) else math.nan
    if math.isfinite(number) and above < number < below:
        return number
    expected = "a finite number"
    if math.isfinite(above):
        expected = f"a number above {above:g}"
        if math.isfinite(below):
            expected = f"a number between {above:g} and {below:g}"
    raise InputError(where, f"{value!r}", expected, do)


def wrong_type(where: str, value: object, expected: str, do: str) -> InputError:
    """The error for a value of a wrong type, to be raised by the caller.

    Examples
    --------
    >>> print(wrong_type("annotations", "a.csv", "annotations", "read them first"))
    annotations: 'a.csv' (str), expected annotations; read them first
    """
    shown = repr(value)
    got = shown if len(shown) <= 40 else f"{shown[:37]}..."
    return InputError(where, f"{got} ({type(value).__name__})", expected, do)


def short_repr(record: Any) -> str:
    """A record in a line: words and numbers as they are, of everything else how much there is.

    For results that hold arrays and names of items, as ``__repr__ = short_repr``.

    Examples
    --------
    >>> from equipoise.inference.resampling import Resampling
    >>> Resampling(kind="items", items=("a", "b", "c"), replicates=20)
    Resampling(kind='items', items: 3, replicates=20, seed=0, ...)
    """
    names = [part.name for part in fields(record)] if is_dataclass(record) else record._fields
    shown_fields: list[str] = []
    for name in names:
        value = getattr(record, name)
        public = not name.startswith("_")
        shown = _shown(value) if public and type(value) is not bool else ""
        if sum(map(len, shown_fields)) + len(name) + len(shown) > LONGEST:
            shown_fields.append("...")
            break
        shown_fields += [f"{name}{shown}"] if shown else []
    return f"{type(record).__name__}({', '.join(shown_fields)})"


def _shown(value: object) -> str:
    """What a short representation says of a field; nothing of what is empty."""
    if isinstance(value, str):
        shown = value if len(value) <= WORDS else f"{value[: WORDS - 3]}..."
        return f"={shown!r}" if value else ""
    if isinstance(value, int | np.integer):
        return f"={value}"
    if isinstance(value, float | np.floating):
        return f"={value:g}"
    if isinstance(value, np.ndarray):
        return f": {' x '.join(map(str, value.shape))}"
    size = len(value) if isinstance(value, Sequence | Mapping) else 0
    return f": {size:,}" if size else ""


def ratio(
    above: Any, below: Any, empty: Any = np.nan, *, defined: Any = None
) -> NDArray[np.float64]:
    """Divide; `empty` where there is nothing to divide by: 0 or less, or as `defined` says.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    good = below > 0 if defined is None else defined
    return np.asarray(np.where(good, above / np.where(good, below, 1.0), empty))


def effective_size(draws: Floats) -> Floats:
    """Effective number of draws by Geyer's initial positive sequence, per column.

    Examples
    --------
    >>> white = np.random.default_rng(0).standard_normal((2000, 1))
    >>> bool(1500 < effective_size(white)[0] < 2600)
    True
    """
    number = len(draws)
    centred = draws - draws.mean(axis=0)
    size = 2 ** int(np.ceil(np.log2(2 * number)))
    spectrum = np.fft.rfft(centred, size, axis=0)
    moment = np.fft.irfft(spectrum * np.conj(spectrum), axis=0)[:number] / number
    rho = ratio(moment, moment[0], 0.0)
    pairs = rho[1 : number - 1 : 2] + rho[2:number:2][: len(rho[1 : number - 1 : 2])]
    before_negative = np.cumprod(pairs > 0, axis=0)
    return np.asarray(number / (1 + 2 * (pairs * before_negative).sum(axis=0)))


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a contiguous read-only array: the same one if it is already so, else a copy."""
    if not array.flags.writeable and array.flags.c_contiguous and array.base is None:
        return array
    copy = np.array(array, order="C", copy=True)
    copy.flags.writeable = False
    return copy


def listed(names: Iterable[object], *, most: int = 3) -> str:
    """Show the first few names, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    all_names = list(names)
    shown = ", ".join(quoted(name) for name in all_names[:most])
    return shown if len(all_names) <= most else f"{shown} and {len(all_names) - most} more"


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Say which of the known names was probably meant.

    Examples
    --------
    >>> nearest("lable", ["item", "label"])
    "did you mean 'label'?"
    >>> nearest("x", ["item", "label"])
    "known are 'item', 'label'"
    """
    everything = list(candidates)
    return meant(name, everything, f"known are {listed(everything, most=8)}")


def meant(name: str, candidates: Iterable[str], otherwise: str = "choose one of these") -> str:
    """Say which of the names that were listed was probably meant.

    Examples
    --------
    >>> meant("lable", ["item", "label"]), meant("x", ["item", "label"])
    ("did you mean 'label'?", 'choose one of these')
    """
    names = list(candidates)
    few = len(name) <= _LONGEST_MEANT and len(names) <= _MOST_MEANT
    match = get_close_matches(name, names, n=1) if few else []
    return f"did you mean {quoted(match[0])}?" if match else otherwise


def unknown_name(
    where: str, got: str, name: object, candidates: Iterable[str], *, most: int = 8
) -> InputError:
    """The error for a name that is none of those known, to be raised by the caller.

    Examples
    --------
    >>> print(unknown_name("column x", "unknown", "lable", ["item", "label"]))
    column x: unknown, expected one of 'item', 'label'; did you mean 'label'?
    """
    names = list(candidates)
    expected = f"one of {listed(names, most=most)}"
    return InputError(where, got, expected, meant(str(name), names))


def choice(name: str, value: str, allowed: Sequence[str]) -> str:
    """Return `value` if it is one of the known words, else say which was meant."""
    if not isinstance(value, str) or value not in allowed:
        expected = f"one of {', '.join(allowed)}"
        raise InputError(name, f"{value!r}", expected, meant(str(value), allowed))
    return value


def require_keywords(how: Iterable[str], allowed: Sequence[str]) -> None:
    """Refuse keywords of a caller that are not known.

    Examples
    --------
    >>> require_keywords(["sed"], ["level", "seed"])
    Traceback (most recent call last):
    ...
    equipoise.InputError: keyword 'sed': unknown, expected one of 'level', 'seed'; did...
    """
    for name in how:
        if name not in allowed:
            raise unknown_name(f"keyword {name!r}", "unknown", name, allowed, most=len(allowed))


def positions(names: Sequence[str], within: Sequence[str], *, where: str) -> Ints:
    """Locate each of `names` in `within`.

    Examples
    --------
    >>> positions(["b", "a"], ["a", "b", "c"], where="items")
    array([1, 0])
    >>> positions(["d"], ["a", "b"], where="items")
    Traceback (most recent call last):
    ...
    equipoise.InputError: items: 'd' unknown, expected one of 'a', 'b'; correct the ...
    """
    index = {name: position for position, name in enumerate(within)}
    places = np.fromiter((index.get(name, -1) for name in names), dtype=np.intp)
    if (places < 0).any():
        unknown = [names[int(i)] for i in np.flatnonzero(places < 0)]
        raise InputError(
            where,
            f"{listed(unknown)} unknown",
            f"one of {listed(within)}",
            "correct the names or leave these rows out",
        )
    return places


def name_order(names: Sequence[str]) -> Ints | None:
    """Positions of names in their order; None where that is how they stand.

    The order is that of characters, but of numbers where the names are numbers after what all
    begin with. It depends on the names alone, so that whatever is drawn for the name of a rank
    does not depend on where a file has it.

    Examples
    --------
    >>> name_order(["scan-10", "scan-9", "scan-1"]), name_order(["b", "a"])
    (array([2, 1, 0]), array([1, 0]))
    >>> name_order(["a", "b"]) is None
    True
    """
    if len(names) < 2:
        return None
    first, last, alike = min(names), max(names), 0  # what both begin with, all do
    while alike < len(first) and first[alike] == last[alike]:
        alike += 1
    begin = len(first[:alike].rstrip("0123456789"))
    ends = list(map(itemgetter(slice(begin, None)), names))
    digits = "".join(ends)
    numbered = all(ends) and digits.isdecimal()
    length = np.array(list(map(len, names))) if numbered else np.zeros(len(names), dtype=int)
    if numbered and digits.isascii() and length.max() - begin <= _DIGITS:
        order = np.lexsort((np.array(list(map(int, ends)), dtype=np.int64), length))
    else:
        by_letters = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)
        order = by_letters[np.argsort(length[by_letters], kind="stable")]
    return None if (order[1:] > order[:-1]).all() else order


def name_ranks(names: Sequence[str]) -> Ints | None:
    """Rank of every name in the order of `name_order`; None where that is how they stand.

    Examples
    --------
    >>> name_ranks(["c", "a", "b"])
    array([2, 0, 1])
    """
    order = name_order(names)
    return None if order is None else np.argsort(order)


def require_unique(
    names: Sequence[str], *, where: str, do: str = "merge or rename them"
) -> None:
    """Raise unless every name is there once."""
    if len(set(names)) != len(names):
        twice = [name for name, times in Counter(names).items() if times > 1]
        raise InputError(where, f"{listed(twice)} more than once", "each name once", do)


def require_finite(values: Floats, *, where: str, names: Sequence[str] = ()) -> None:
    """Raise unless every value is a finite number, naming the first item that has none."""
    bad = ~np.isfinite(values)
    if bad.any():
        spot = tuple(int(i) for i in np.argwhere(bad)[0])
        item = f", item {names[spot[0]]!r}" if names else f", position {spot[0]}"
        raise InputError(
            where + item,
            f"value is {values[spot]}" + _more(int(bad.sum())),
            "a finite number",
            "correct the value or leave the item out",
        )


def require_simplex(
    values: Floats, *, where: str, names: Sequence[str] = (), tolerance: float = 1e-3
) -> None:
    """Raise unless every last-axis slice is a probability distribution.

    Examples
    --------
    >>> require_simplex(np.array([[0.5, 0.5], [0.9, 0.3]]), where="predictions of 'resnet'")
    Traceback (most recent call last):
    ...
    equipoise.InputError: predictions of 'resnet', item 1: probabilities sum to 1.2, ...
    """
    bad = ~np.isfinite(values) | (values < 0) | (values > 1 + tolerance)
    if bad.any():
        spot = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"{where}, {_item(spot[values.ndim - 2], names)}",
            f"probability is {values[spot]:.6g}",
            "a number between 0 and 1",
            "give probabilities, not logits; apply a softmax first",
        )
    totals = values.sum(axis=-1)
    off = np.abs(totals - 1) > tolerance
    if off.any():
        spot = tuple(int(i) for i in np.argwhere(off)[0])
        raise InputError(
            f"{where}, {_item(spot[values.ndim - 2], names)}",
            f"probabilities sum to {totals[spot]:.6g}" + _more(int(off.sum())),
            "1",
            "divide each row by its sum",
        )


def _more(total: int) -> str:
    """Say that the fault named is one of several."""
    return "" if total == 1 else f" (one of {total} such items)"


def _item(number: int, names: Sequence[str]) -> str:
    """Name an item by its id where the caller knows it, else by its position."""
    return f"item {names[number]!r}" if names else f"item {number}"
