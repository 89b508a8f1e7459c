"""Odd names, values, documents and bytes, and the four things that must hold whatever comes.

``EQUIPOISE_HOSTILE`` is how many cases every generator makes; `cases` settles a test by it. ::

    @cases()
    @given(data=mutated(whole))
    def test_damaged(data, tmp_path_factory):
        outcome = confined(lambda: read(path), size=len(data), folder=path.parent)
"""

import copy
import gc
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from equipoise import InputError

CASES = int(os.environ.get("EQUIPOISE_HOSTILE", "24"))
LONGEST_SECONDS = 10.0  # of the processor
TIMES_THE_FILE, FREE = 4, 96 * 2**20  # how much memory a reader may take, in bytes
LONGEST_MESSAGE = 600  # characters

FORMULAS = ("=1+1", "=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "-0.5", "-")
MARKUP = (
    "<script>alert(1)</script>",
    "</script><!--",
    "|a|b|",
    "![x](y)",
    "`x`",
    "&lt;",
    "$x$",
)
LATEX = (r"\input{/etc/passwd}", "100%", "a_b^c", "{", "}", "#", "~", "\\")
ESCAPES = ("\x1b[31mred", "\x9b31m", "\u202eevil", "\u2066x\u2069", "a\x00b", "\x07", "\x7f")
SPELLINGS = ("Ana", "ana", "ANA", "an\u200ba", "ana\ufeff", "cafe\u0301", "caf\u00e9", "ﬁ", "ß")
PLACES = ("../up", "/etc/passwd", "a/b", "CON", "a:b", ".", "..", "~", "a\\b", "x" * 300)
BLANKS = ("", " ", "\u00a0", "\u3000", "\n", "nan", "NaN", "null", "None", "NA", "inf", "-inf")
NUMBERS = ("0", "1", "-0", "1e400", "1e-400", "1e8", "9" * 400, "9" * 5000, "0x10", "1_0", "١")
SURROGATES = ("\ud800", "a\udfffb", "\udcff")
ODD_NAMES = FORMULAS + MARKUP + LATEX + ESCAPES + SPELLINGS + PLACES + BLANKS + NUMBERS
ODD_SCALARS: tuple[Any, ...] = (
    None, True, False, 0, -1, 3, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, -0.0, 1e8, 1e300,
    math.nan, math.inf, -math.inf, "", "x", "1", "nan", *SURROGATES, [], {}, [[]],
    [None], {"a": 1},
)  # fmt: skip

_CHANGES = ("flip", "cut", "insert", "double", "end")
_SWAPS = ("replace", "replace", "replace", "remove", "add", "wrap", "double")
_PARTS = (
    b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b'"', b"'", b",", b";", b"\t", b"\n",
    b"\r", b"\r\n", b"#", b"=1+1", b"1e400", b"nan", b"-1", b"9" * 400, b"\xed\xa0\x80",
    b"\x80", b"\\",
    b"[", b"]", b"{", b"}", b":", b"null", b"true", b"\\ud800", b"PK\x03\x04", b"PAR1",
)  # fmt: skip


def cases(share: float = 1.0) -> settings:
    """How many cases a test makes: `share` times those of every generator."""
    return settings(
        max_examples=max(1, round(CASES * share)),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=CASES < 1_000,
    )


def names() -> st.SearchStrategy[str]:
    """Names that are odd, or any text at all; never half a character."""
    text = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
    return st.one_of(st.sampled_from(ODD_NAMES), text)


def scalars() -> st.SearchStrategy[Any]:
    """Values of JSON that stand where another was expected."""
    return st.one_of(st.sampled_from(ODD_SCALARS), names(), st.integers(), st.floats())


def mutated(whole: bytes) -> st.SearchStrategy[bytes]:
    """Bytes with a few changes: flipped, cut out, put in, moved, said twice, cut short."""
    place = st.integers(0, max(len(whole), 1))
    change = st.tuples(
        st.sampled_from(_CHANGES),
        place,
        st.integers(1, 64),
        st.integers(0, 255),
        st.sampled_from(_PARTS),
    )
    return st.lists(change, min_size=1, max_size=4).map(
        lambda changes: _changed(whole, changes)
    )


def _changed(data: bytes, changes: list[tuple[str, int, int, int, bytes]]) -> bytes:
    for how, place, length, byte, part in changes:
        before, after = data[:place], data[place:]
        if how == "flip":
            data = before + bytes([byte]) + after[1:]
        elif how == "cut":
            data = before + after[length:]
        elif how == "insert":
            data = before + part + after
        elif how == "double":
            data = before + after[:length] * 2 + after[length:]
        else:
            data = before
    return data


def swapped(document: Any) -> st.SearchStrategy[Any]:
    """A JSON document with one value replaced, removed, added, or put in a list."""
    spots = list(_spots(document))
    change = st.sampled_from(_SWAPS)
    return st.tuples(st.sampled_from(spots), change, scalars()).map(
        lambda how: swap(document, *how)
    )


def swaps(document: Any) -> Iterator[Any]:
    """Every value of a JSON document replaced by every odd value, one at a time."""
    for spot in _spots(document):
        for value in ODD_SCALARS:
            yield swap(document, spot, "replace", value)


def _spots(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inside: Any = ()
    if isinstance(document, dict):
        inside = document.items()
    elif isinstance(document, list):
        inside = enumerate(document)
    for key, value in inside:
        yield from _spots(value, (*path, key))


def swap(document: Any, path: tuple[Any, ...], how: str, value: Any) -> Any:
    """A copy of a document in which the value at a path is another."""
    if not path:
        return [copy.deepcopy(document)] if how == "wrap" else value
    changed = copy.deepcopy(document)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    key = path[-1]
    if how == "remove":
        del holder[key]
    elif how == "wrap":
        holder[key] = [holder[key]]
    elif how == "add" and isinstance(holder, dict):
        holder["extra"] = value
    elif how in ("add", "double") and isinstance(holder, list):
        holder.insert(key, value if how == "add" else copy.deepcopy(holder[key]))
    else:
        holder[key] = value
    return changed


class Outcome(NamedTuple):
    """What came of a call: a value, or the one error that input may end in."""

    value: Any = None
    error: InputError | None = None


def confined(call: Callable[[], Any], *, size: int, folder: Path | None = None) -> Outcome:
    """Call it, and hold it to what must be: typed, quick, small, and nothing left behind."""
    before = listing(folder)
    try:
        with bounded(size):
            outcome = Outcome(value=call())
    except InputError as error:
        outcome = Outcome(error=error)
    if outcome.error is not None:
        require_four_parts(outcome.error)
        assert listing(folder) == before, "something was left behind"
    return outcome


def require_four_parts(error: InputError) -> None:
    """Hold an error to its form: four parts, short, and fit for a terminal."""
    said = str(error)
    assert all((error.where, error.got, error.expected, error.do)), said
    assert len(said) <= LONGEST_MESSAGE, len(said)
    said.encode()


def listing(folder: Path | None) -> frozenset[str]:
    """Everything that lies in a folder."""
    return frozenset() if folder is None else frozenset(map(str, folder.rglob("*")))


@contextmanager
def bounded(size: int) -> Iterator[None]:
    """Hold what happens inside to ten seconds, and to four times `size` bytes of memory."""
    gc.collect(0)
    start, low = time.process_time(), _reset_peak()
    yield
    spent = time.process_time() - start
    assert spent < LONGEST_SECONDS, f"{spent:.1f} s"
    grown = _peak() - low
    assert grown < TIMES_THE_FILE * size + FREE, f"{grown / 2**20:.0f} MB for {size} bytes"


def _reset_peak() -> int:
    """Forget the largest size that this process had, and return its size now, in bytes."""
    with suppress(OSError):  # on another system the peak stays what it was
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS") or _peak()


def _peak() -> int:
    """The largest size of this process, in bytes."""
    peak = _status("VmHWM")
    if peak:
        return peak
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _status(name: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), 0)
