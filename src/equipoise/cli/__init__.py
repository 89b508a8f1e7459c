"""Command line: each verb reads files, calls one library function, prints or writes one thing.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the
input was refused, 2 wrong usage, 130 interrupted. A verb imports what it needs when it runs,
and the verbs themselves come in when they are first asked for, so that an interrupt meanwhile
is met with a sentence too.
"""

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

    app: typer.Typer

__all__ = ["app", "main", "run"]

INTERRUPTED = 130
RARELY = 50_000, 20, 50  # what one verb makes is needed to its end, and then all is left


def __getattr__(name: str) -> Any:
    """Load the verbs when they are first asked for."""
    if name != "app":
        message = f"module 'equipoise.cli' has no attribute {name!r}"
        raise AttributeError(message)
    from equipoise.cli.verbs import application

    return application()


def run() -> int:
    """Run one verb, turn refused input into a message, and return the exit code."""
    from equipoise.cli.screen import make_writable
    from equipoise.cli.verbs import empty_path, options_of, verbs
    from equipoise.types import InputError, out_of_memory

    make_writable()
    nameless = empty_path(sys.argv[1:])
    if nameless is not None:
        do = "name one, or leave the option out; the folder you are in is ."
        refusal = InputError(nameless, "an empty path", "a file or a folder", do)
        print(f"equipoise: {refusal}", file=sys.stderr)
        return 2
    try:
        verbs(sys.argv[1:])()
    except SystemExit as done:
        _tell_notes(done)
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    except InputError as error:
        options = options_of(sys.argv[1:])
        worded = error.renamed({"model": "truth"}) if "truth" in options else error
        print(f"equipoise: {worded.in_command(options)}", file=sys.stderr)
        _tell_notes(error)
        return 1
    except MemoryError as error:
        print(f"equipoise: {out_of_memory(' '.join(sys.argv[1:2]), error)}", file=sys.stderr)
        _tell_notes(error)
        return 1
    except BrokenPipeError:
        return 0
    except OSError as error:
        place = error.filename or "a file"
        do = "check the path and its permissions"
        refusal = InputError(str(place), f"{error.strerror}", "a place that can be used", do)
        print(f"equipoise: {refusal}", file=sys.stderr)
        _tell_notes(error)
        return 1
    return 0


def _tell_notes(error: BaseException | None) -> None:
    """Print what errors were given on their way: where unfinished work lies."""
    while error is not None:
        for note in getattr(error, "__notes__", ()):
            print(note, file=sys.stderr)
        error = error.__cause__ or error.__context__


def main() -> None:
    """Run one verb and leave at once.

    Threads of compiled libraries that are still starting when Python takes itself apart can
    abort the process after all is done; nothing here needs that taking apart.
    """
    gc.set_threshold(*RARELY)
    try:
        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        with suppress(OSError, ValueError):
            print(
                "equipoise: interrupted; what was reported as written is whole",
                file=sys.stderr,
            )
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
