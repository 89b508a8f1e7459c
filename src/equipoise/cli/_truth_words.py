"""Options of `evaluate` that only mean something with a model of the truth, or without one."""

from typing import Any

from equipoise.arrays import InputError
from equipoise.wording import joined

VOTES, ENDING = "votes", ".npz"
DRAWS, BURN_IN = 1000, 500


def check_truth_words(options: dict[str, Any]) -> None:
    """Refuse what would be ignored or cannot be drawn, before anything is read."""
    truth, plan = options["truth"], options["resample"]
    if truth == VOTES:
        for name in ("draws", "burn_in"):
            if options[name] is not None:
                flag = f"--{name.replace('_', '-')}"
                raise InputError(
                    flag, f"{options[name]} with --truth votes", "a model of the truth",
                    f"add --truth MODEL, or leave out {flag}",
                )  # fmt: skip
    elif options["burn_in"] is not None and truth not in ("auto", *_chained()):
        refuse_burn_in(options, truth)
    if plan is not None:
        _check_plan(plan, truth)


def refuse_burn_in(options: dict[str, Any], name: str) -> None:
    """Refuse a burn-in for a model without chains."""
    chained = joined(_chained(), "or")
    raise InputError(
        "--burn-in", f"{options['burn_in']} with --truth {name}",
        f"a model whose draws come from chains: {chained}", "leave out --burn-in",
    )  # fmt: skip


def _chained() -> list[str]:
    """Models whose draws come from chains."""
    from equipoise.aggregate import MODELS

    return [name for name, model in MODELS.items() if model.chains]


def _check_plan(plan: str, truth: str) -> None:
    """Refuse to redraw votes under a model, and the model's draws without one."""
    redrawn = plan.replace(" x ", "-x-").split("-x-")[-1]
    if truth == VOTES and redrawn == "posterior":
        raise InputError(
            f"--resample {plan}", "no plausibilities: --truth is votes",
            "a model of the truth, whose draws are taken in turn",
            "add --truth MODEL, for example --truth auto",
        )  # fmt: skip
    if truth != VOTES and redrawn in ("votes", "panel"):
        raise InputError(
            f"--resample {plan}", f"--truth {truth}, which has no votes to redraw",
            "items, posterior or items-x-posterior", "choose one, or leave out --truth",
        )  # fmt: skip
