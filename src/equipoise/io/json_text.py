"""JSON text: nested rankings and exports of annotation tools.

An object that names a key twice is refused, because the first value would be lost.
"""

import json
from typing import Any

from equipoise.arrays import InputError
from equipoise.io.files import Content

ENDINGS = (".json",)


def read_json(file: Content) -> Any:
    """Parse JSON."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = dict(pairs)
        if len(keys) != len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            raise InputError(
                file.name, f"key {twice!r} twice in one object", "each key once",
                "merge or rename the two",
            )  # fmt: skip
        return keys

    try:
        return json.loads(file.data.decode("utf-8-sig"), object_pairs_hook=once)
    except UnicodeDecodeError as error:
        raise InputError(
            file.name, f"byte {error.start} is no text", "UTF-8", "save the file as UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{file.name}, row {error.lineno}", f"no JSON ({error.msg})", "whole JSON text",
            "export the file again",
        ) from error  # fmt: skip
    except RecursionError as error:
        raise InputError(
            file.name, "lists nested too deeply", "case > reading > block > class",
            "check the nesting",
        ) from error  # fmt: skip
