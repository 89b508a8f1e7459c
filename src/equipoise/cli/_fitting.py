"""What `equipoise aggregate` fits: the chosen model, those beside it, and held-out votes."""

from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from equipoise.arrays import InputError
from equipoise.cli._screen import progress, verb_options
from equipoise.cli._truth_rows import FOLDS, Fits
from equipoise.wording import in_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from equipoise.annotations import Annotations
    from equipoise.choosing import Model
    from equipoise.plausibilities import Plausibilities


def fit(table: "Annotations", asked: Fits, options: dict[str, Any]) -> Fits:
    """Fit the chosen model and those beside it, and score held-out votes, under a bar."""
    from equipoise.aggregate import annotator_bootstrap
    from equipoise.choosing import fitted, held_out

    draws, seed = options["bootstrap"], options["seed"]
    if draws:
        _refuse_anonymous(table)
    models = _models(table, asked.name, options)
    scored = options["compare"] and _votes(table)
    total = len(models) + draws + (FOLDS * len(models) if scored else 0)
    with progress("fitting") as tell:
        plain = _ticking(models, tell, total)
        chosen = plain[asked.name]
        if draws:
            chosen = partial(annotator_bootstrap, chosen, draws=draws, seed=seed)
        fits = fitted(table, {**plain, asked.name: chosen}, asked.task)
        if scored:
            scores = held_out(table, plain, folds=FOLDS, seed=seed, task=asked.task)
            return asked._replace(models=fits, scores=scores)
    return asked._replace(models=fits)


def _models(table: "Annotations", own: str, options: dict[str, Any]) -> dict[str, "Model"]:
    """The models to fit, set up; settings other than the threshold are for the chosen one."""
    from equipoise.choosing import Settings, companions, model, suitable

    threshold, seed = options["threshold"], options["seed"]
    told = Settings(threshold, options["reliability"], seed, options["prior"])
    models = {own: model(own, table, told)}
    beside = companions(table) if options["model"] == "auto" else ()
    for name in suitable(table) if options["compare"] else beside:
        models.setdefault(name, model(name, table, Settings(threshold, seed=seed)))
    return models


def _refuse_anonymous(table: "Annotations") -> None:
    """Refuse to redraw annotators of whom nothing is known."""
    if table.annotator is None:
        raise InputError(
            "--bootstrap", "anonymous votes", "votes of annotators with names, to draw anew",
            "leave --bootstrap out (dirichlet has its own doubt), or give an annotator column",
        )  # fmt: skip


def _ticking(
    models: dict[str, "Model"], tell: "Callable[[int, int], None]", total: int
) -> dict[str, "Model"]:
    """The same models, moving the bar after every fit."""
    done = count(1)

    def ticked(fit: "Model") -> "Model":
        def run(*args: Any, **how: Any) -> "Plausibilities":
            made = fit(*args, **how)
            tell(next(done), total)
            return made

        return run

    return {name: ticked(fit) for name, fit in models.items()}


def notes(table: "Annotations", fits: Fits, options: dict[str, Any]) -> list[str]:
    """What the data, the fit and the comparison say that the user should know."""
    from equipoise.choosing import cautions, remarks, verdict

    known = fits.models.get("dawid_skene")
    warned = cautions(table, fits.task, fit=known)
    said = [*table.notices, *remarks(table, fits.made), *warned, *map(str, fits.made.notices)]
    if any("kappa" in one for one in warned):
        said.append("Kappa is agreement beyond chance: 0 is that of guesses, 1 is complete.")
    said += verdict(fits.models)
    if options["compare"] and not fits.scores:
        what = {"interval": "of ratings", "ranking": "of rankings"}.get(
            table.kind, "of anonymous votes"
        )
        said.append(
            f"The likelihood {what} is not held out: it needs single labels of known "
            "annotators. Compare decisions instead."
        )
    if float("-inf") in fits.scores.values():
        said.append(
            "A held-out log-likelihood of -inf: a held-out vote got chance 0, because the "
            "model had ruled its class out."
        )
    return [in_command(one, verb_options()) for one in said]


def _votes(table: "Annotations") -> bool:
    """Whether held-out votes can be scored."""
    return table.annotator is not None and table.rank is None and table.label is not None
