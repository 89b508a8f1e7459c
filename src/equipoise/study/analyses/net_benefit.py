r"""Decision curves: what acting on a model's probabilities is worth, over thresholds.

Whoever acts when the probability is at least t holds a needless action t/(1-t) times as bad as
a missed one. At every threshold a model is compared with acting on everybody and on nobody
(Vickers and Elkin 2006), against soft labels: a vote drawn at random is positive. Intervals of
single thresholds are those of the metric ``net_benefit:threshold=0.1``.
"""

from collections.abc import Mapping

import numpy as np

from equipoise.metrics import decision_curve
from equipoise.study.analyses.study import Study
from equipoise.study.truth import TaskTruth
from equipoise.types.arrays import Bools, Floats, InputError
from equipoise.types.findings import Cell, Column, Finding, Line, Lines, Table, columns, rows_of
from equipoise.types.numbers import percent
from equipoise.types.words import joined

KEY, TITLE = "net_benefit", "From which threshold on is a model of use?"
THRESHOLDS = np.arange(1, 100) / 100
SHOWN = slice(4, None, 5)  # thresholds that have a row in the table
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
        curves = [decision_curve(truth.shares[0], one) for one in scores.values()]
        everybody, own = curves[0].treat_all, np.stack([one.model for one in curves])
        useful = own > np.maximum(everybody, 0.0)
        rows += rows_of(
            {"task": truth.task},
            {"model": list(scores), "threshold": THRESHOLDS[SHOWN].tolist()},
            {
                "net_benefit": own[:, SHOWN],
                "treat_all": everybody[None, SHOWN],
                "useful": useful[:, SHOWN],
            },
        )
        charts.append(_chart(truth.task, dict(zip(scores, own, strict=True)), everybody))
        said.append(_sentence(truth.task, dict(zip(scores, useful, strict=True))))
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
                    *columns(task="text", model="model", threshold="percent"),
                    *columns(net_benefit="number"),
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
    grid = THRESHOLDS[SHOWN]  # as in the table
    known = {name: grid[one[SHOWN]] for name, one in useful.items() if one[SHOWN].any()}
    if not known:
        return f"{where}no model is worth more than acting on everybody or on nobody."
    widest = max(known, key=lambda name: len(known[name]))
    ends = percent(float(known[widest].min())), percent(float(known[widest].max()))
    never = [name for name in useful if name not in known]
    rest = f"; {joined(never, most=3)} nowhere" if never else ""
    return f"{where}{widest} is of use at thresholds from {ends[0]} to {ends[1]}{rest}."
