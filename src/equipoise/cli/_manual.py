"""The command line's manual, written from the commands themselves: ``make docs``."""

import inspect
from collections.abc import Iterator
from typing import Any

from equipoise.cli._catalogue import help_text
from equipoise.cli._verbs import verbs


def manual() -> str:
    """All verbs with their options, as Markdown."""
    parts = [
        "# Command line",
        "",
        "Written by `make docs` from the commands; `equipoise VERB --help` shows the same.",
        "Results go to standard output, messages and progress to standard error. Exit codes: 0 "
        "done, 1 the input was refused, 2 wrong usage, 130 interrupted.",
    ]
    group = verbs()
    for name, command in _verbs(group):
        parts += ["", f"## equipoise {name}", "", inspect.cleandoc(command.help or ""), ""]
        shown = [one for one in command.params if one.name != "help"]
        rare = [one for one in shown if getattr(one, "hidden", False)]
        parts += ["| option | default | meaning |", "|---|---|---|"]
        parts += [_row(one) for one in shown if one not in rare]
        if rare:
            parts += ["", "Rare, with `--set NAME=VALUE` or as options of their own:", ""]
            parts += ["| name | default | meaning |", "|---|---|---|"]
            parts += [_row(one) for one in rare]
    return "\n".join(parts) + "\n"


def _verbs(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every verb that is shown, those of groups with the name of the group."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _verbs(command, f"{before}{name} ")
        elif not command.hidden:
            yield f"{before}{name}", command


def _row(one: Any) -> str:
    name = ", ".join(one.opts) if one.param_type_name == "option" else str(one.name).upper()
    shown = one.default is not None and one.default is not False
    default = f"`{one.default}`" if shown else ""
    meaning = " ".join(help_text(one.help or "").split()).replace("|", "\\|")
    return f"| `{name}` | {'required' if one.required else default} | {meaning} |"


if __name__ == "__main__":
    print(manual(), end="")
