"""User code: a file of Python that the user names, as mine.py:Mine, and calls of what it holds.

Such code does what it likes: it prints, stops the program, raises anything, returns anything.
So it is loaded and called behind one boundary. What it prints goes to the error stream, where
no result stands; whatever it raises, SystemExit too, becomes an error in four parts that names
the file and the line. Who calls it checks what it returns.

>>> def mine(items):
...     raise ValueError("no items")
>>> try:
...     call_user_code(mine, [], where="mine.py:mine", expected="scores")
... except InputError as error:
...     print(error.where, "expected", error.expected)
mine.py:mine expected scores
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import module_from_spec, spec_from_file_location
from inspect import getfile, isabstract
from pathlib import Path
from threading import Lock
from traceback import extract_tb
from types import ModuleType
from typing import IO, Any

from equipoise.scale.engine import send_by_code
from equipoise.types import InputError, nearest

_lock = Lock()
_outputs: list[IO[str]] = []  # standard output, and below it that of every call that runs
_descriptors: list[int] = []  # where file descriptor 1 led before the first of them
MOST_WORDS = 300  # letters of what an error of a user says
OURS = (f"{Path(__file__).parents[1]}{os.sep}", "<frozen ")
Facts = Mapping[str, type]  # types of what an object must have, by name


def path_and_name(spec: str) -> tuple[Path, str | None] | None:
    """The file and the name in it; None where no file of Python is named.

    Examples
    --------
    >>> path_and_name("mine.py:Mine"), path_and_name("knn_distance")
    ((...Path('mine.py'), 'Mine'), None)
    """
    path, colon, name = spec.rpartition(":")
    if colon and path.endswith(".py") and name.isidentifier():
        return Path(path), name
    return (Path(spec), None) if spec.endswith(".py") else None


def user_file(value: Any) -> str:
    """The file of a function, or of an object's class, that a user wrote; empty for ours.

    Examples
    --------
    >>> user_file(user_file), user_file(3)
    ('', 'no file')
    """
    home = value if hasattr(value, "__code__") else type(value)
    if home.__module__.startswith("equipoise."):
        return ""
    try:
        return getfile(home)
    except (OSError, TypeError):
        return "no file"


@contextmanager
def _output_aside() -> Iterator[None]:
    """Send standard output to the error stream, while any thread is inside.

    That of compiled code and of other programs goes there, too. The working directory is
    afterwards what it was.
    """
    here = Path.cwd()
    with _lock:
        _outputs.append(sys.stdout)
        if len(_outputs) == 1:
            _descriptors.extend(_swapped_descriptor())
        sys.stdout = sys.stderr
    try:
        yield
    finally:
        os.chdir(here)
        with _lock:
            outermost = _outputs[0]
            _outputs.pop()
            if not _outputs:
                for descriptor in _descriptors:
                    os.dup2(descriptor, 1)
                    os.close(descriptor)
                _descriptors.clear()
                sys.stdout = outermost


def _swapped_descriptor() -> list[int]:
    """Where standard output went, which now goes to the error stream; none if it is closed."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    try:
        before = os.dup(1)
    except OSError:
        return []
    try:
        os.dup2(2, 1)
    except OSError:
        os.close(before)
        return []
    return [before]


def call_user_code(
    function: Callable[..., Any], *arguments: Any, where: str, expected: str, **keywords: Any
) -> Any:
    """Call what a user wrote; whatever goes wrong there is an error that says in which line.

    Parameters
    ----------
    where
        What is called, with its file.
    expected
        What it should have done.
    """
    try:
        with _output_aside():
            return function(*arguments, **keywords)
    except KeyboardInterrupt:
        raise
    except InputError as error:
        raise InputError(
            f"{where}: {error.where}", error.got, error.expected, error.do
        ) from error
    except BaseException as error:
        got = f"{_words(error)}{_line(error)}"
        raise InputError(where, got, expected, "correct the file, or leave it out") from error


def _line(error: BaseException) -> str:
    """Where a user's own file was left last; nothing where it was not entered."""
    frames = extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(OURS)]
    last = next((one for one in theirs[::-1] if one.filename == theirs[0].filename), None)
    return f" ({Path(last.filename).name}, line {last.lineno})" if last else ""


def _words(error: BaseException) -> str:
    """The kind of an error and the first line of what it says."""
    lines: list[str] = []
    with suppress(Exception):
        lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0][:MOST_WORDS]}" if lines else type(error).__name__


def load_user_object(spec: str, kind: type, what: str) -> Any:
    """What a file of the user defines of some kind: a class, or a value that is there.

    Parameters
    ----------
    spec
        ``path.py:Name``, or ``path.py`` where the file has one.
    kind, what
        The class of which it must be, or extend, and its noun.
    """
    place, where = path_and_name(spec), f"{what} {spec}"
    if place is None:
        raise InputError(where, "no file of Python", "path.py:Name or path.py", "check it")
    path, name = place
    if not path.is_file():
        raise InputError(where, f"no file {path}", "a file of Python", "check the path")
    objects = _objects_in(_run_as_module(path, where), kind)
    if name is None and len(objects) == 1:
        (name,) = objects
    if name not in objects:
        raise InputError(
            where,
            f"no {what} {name}" if name else f"{len(objects) or 'no'} {what}s",
            f"one of {', '.join(objects)}"
            if objects
            else f"a class that extends {kind.__name__}",
            f"write {path}:{nearest(name or '', objects) or next(iter(objects))}"
            if objects
            else f"see {kind.__module__}.{kind.__name__}",
        )
    return objects[name]


def new_user_object(value: Any, where: str, facts: Facts) -> Any:
    """An object of a user, its facts of their types; a class is called without arguments."""
    if isinstance(value, type):
        for fact in facts:
            _require_fact(value, fact, facts, where)
        value = call_user_code(
            value, where=where, expected="a class that can be made without arguments"
        )
    check_facts(value, where, facts)
    return value


def check_facts(value: Any, where: str, facts: Facts) -> None:
    """Refuse an object of a user that lacks a fact, or has one of another type."""
    for fact, kind in facts.items():
        _require_fact(value, fact, facts, where)
        content = call_user_code(
            getattr, value, fact, where=f"{where}, {fact}", expected=kind.__name__
        )
        if not isinstance(content, kind) or (kind is str and not content):
            got = "empty text" if content == "" else type(content).__name__
            do = f"write {fact} = ... in the class"
            raise InputError(f"{where}, {fact}", got, kind.__name__, do)


def _require_fact(value: Any, fact: str, facts: Facts, where: str) -> None:
    there = call_user_code(hasattr, value, fact, where=f"{where}, {fact}", expected="a fact")
    if not there:
        do = f"write {fact} = ... in the class"
        raise InputError(where, f"no {fact}", ", ".join(facts), do)


def _run_as_module(path: Path, where: str) -> ModuleType:
    """Run a file as a module of its own; it stays known, as dataclasses ask."""
    called = f"_own_{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]}"
    spec = spec_from_file_location(called, path.resolve())
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[called] = module
    try:
        load = spec.loader
        call_user_code(
            lambda: load.exec_module(module), where=where, expected="a file that runs"
        )
    except BaseException:
        del sys.modules[called]
        raise
    send_by_code(module)
    return module


def _objects_in(module: ModuleType, kind: type) -> dict[str, Any]:
    """Objects of a kind, and classes of it that a module itself defines, by name."""
    objects = {}
    for name, value in vars(module).items():
        is_class = isinstance(value, type) and issubclass(value, kind)
        local = is_class and value.__module__ == module.__name__ and not isabstract(value)
        if isinstance(value, kind) or local:
            objects[name] = value
    return objects
