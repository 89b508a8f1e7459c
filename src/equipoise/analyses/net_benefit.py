r"""Decision curves: what acting on a model's probabilities is worth, over thresholds.

Whoever acts when the probability is at least t holds a needless action t/(1-t) times as bad as
a missed one. At every threshold a model is compared with acting on everybody and on nobody
(Vickers and Elkin 2006), against soft labels: a vote drawn at random is positive. Intervals of
single thresholds are those of the metric ``net_benefit:threshold=0.1``.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from equipoise.analyses.study import Study
from equipoise.arrays import Bools, Floats, InputError
from equipoise.evaluation.truth import TaskTruth
from equipoise.findings import Cell, Column, Finding, Line, Lines, Table
from equipoise.metrics import decision_curve
from equipoise.numbers import percent
from equipoise.wording import joined

KEY, TITLE = "net_benefit", "From which threshold on is a model of use?"
THRESHOLDS = np.arange(1, 100) / 100
EACH = 5  # thresholds in a hundred from one row of the table to the next
FLOOR = -0.05  # net benefit below which a curve is not drawn
NOTE = (
    "Net benefit is the share of true positives less that of false ones at the odds of the "
    "threshold, in true positives per item. A model is of use at a threshold where it is worth "
    "more than acting on everybody and on nobody."
)
METHODS = (
    "Net benefit was computed over thresholds from 0.01 to 0.99 and compared with acting on "
    "everybody and on nobody [@vickers2006]."
)


def analyse(study: Study) -> Finding:
    """Decision curves of all models in every yes/no task."""
    rows: list[dict[str, Cell]] = []
    charts, said = [], []
    done = study.evaluation
    for truth, scores in zip(done.questions, done.scores, strict=True):
        _refuse(truth, scores)
        curves = {name: decision_curve(truth.shares[0], one) for name, one in scores.items()}
        first = next(iter(curves.values()))
        useful = {
            name: curve.model > np.maximum(curve.treat_all, 0.0)
            for name, curve in curves.items()
        }
        for name, curve in curves.items():
            rows += _rows(truth.task, name, curve.model, first.treat_all, useful[name])
        charts.append(
            _chart(truth.task, {n: c.model for n, c in curves.items()}, first.treat_all)
        )
        said.append(_sentence(truth.task, useful))
    return Finding(
        key=KEY,
        title=TITLE,
        sentence=" ".join(said[:3]),
        more=tuple(said[3:]),
        charts=tuple(charts),
        tables=(
            Table(
                name=KEY,
                caption="Net benefit by threshold",
                columns=(
                    Column("task", "task"),
                    Column("model", "model", "model"),
                    Column("threshold", "threshold", "percent"),
                    Column("net_benefit", "net benefit", "number"),
                    Column("treat_all", "acting on everybody", "number"),
                    Column("useful", "of use"),
                ),
                rows=rows,
                brief=[row for row in rows if row["threshold"] in (0.1, 0.25, 0.5)],
            ),
        ),
        note=NOTE,
        methods=METHODS,
        references=("vickers2006",),
    )


def _refuse(truth: TaskTruth, scores: Mapping[str, Floats]) -> None:
    """Raise unless every model gives probabilities of a yes/no question."""
    if len(truth.classes) > 1:
        raise InputError(
            "net_benefit", f"{len(truth.classes)} classes", "a yes/no question",
            "ask about one class",
        )  # fmt: skip
    for name, one in scores.items():
        if ((one < 0) | (one > 1)).any() or np.isin(one, (0, 1)).all():
            what = "decisions" if np.isin(one, (0, 1)).all() else "scores outside [0, 1]"
            where = f"net_benefit, {name!r}" + (f" for {truth.task!r}" if truth.task else "")
            raise InputError(where, what, "probabilities", "give probabilities")


def _rows(
    task: str, model: str, benefit: Floats, everybody: Floats, useful: Bools
) -> Iterator[dict[str, Cell]]:
    every = zip(THRESHOLDS, benefit, everybody, useful, strict=True)
    for t, own, whole, use in list(every)[EACH - 1 :: EACH]:
        yield {
            "task": task,
            "model": model,
            "threshold": float(t),
            "net_benefit": float(own),
            "treat_all": float(whole),
            "useful": bool(use),
        }


def _chart(task: str, curves: Mapping[str, Floats], everybody: Floats) -> Lines:
    lines = [Line(name, _points(curve), name, dots=False) for name, curve in curves.items()]
    lines.append(Line("everybody", _points(everybody), dots=False, dashed=True))
    lines.append(Line("nobody", [(0.01, 0.0), (0.99, 0.0)], dots=False, dashed=True))
    where = f", {task}" if task else ""
    return Lines(
        name=f"net-benefit{f'-{task}' if task else ''}",
        caption=f"Net benefit by threshold{where}",
        x="threshold",
        y="net benefit",
        lines=lines,
    )


def _points(curve: Floats) -> list[tuple[float, float]]:
    """A curve as far as it stays near or above acting on nobody."""
    shown = curve >= FLOOR
    return [(float(t), float(y)) for t, y in zip(THRESHOLDS[shown], curve[shown], strict=True)]


def _sentence(task: str, useful: Mapping[str, Bools]) -> str:
    """In which range of thresholds the models are of use."""
    where = f"{task}: " if task else ""
    shown = {name: one[EACH - 1 :: EACH] for name, one in useful.items()}  # as in the table
    grid = THRESHOLDS[EACH - 1 :: EACH]
    known = {name: grid[one] for name, one in shown.items() if one.any()}
    if not known:
        return f"{where}no model is worth more than acting on everybody or on nobody."
    widest = max(known, key=lambda name: len(known[name]))
    ends = percent(float(known[widest].min())), percent(float(known[widest].max()))
    never = [name for name in useful if name not in known]
    rest = f"; {joined(never, most=3)} nowhere" if never else ""
    return f"{where}{widest} is of use at thresholds from {ends[0]} to {ends[1]}{rest}."
