"""Does the inference hold? Studies with random items and annotators, whose truth is known.

Per design: how often intervals of a value and of a difference cover the truth, how often a pair
of equal models is called different, and how often any of ten equal models is. With hard labels
and soft AUROC the truth is that of as many votes as the design has. Of models next to readers:
coverage for readers like these and for these readers, and how often the leader of six equal
models is called better than it is. ``--quick`` (or EQUIPOISE_QUICK=1) takes a tenth of the
studies, ``--readers`` or ``--added`` that part alone. Votes that a plan adds: the same for the
difference of two equal models, next to as many votes spread evenly. ``--claims``: the cells of
`benchmarks._claims`, one sentence each, and the power of what pilots plan. ``--studies=N``
takes N studies of each (40: a few minutes for ``--claims``).
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import _added_votes as added
from benchmarks import planning
from benchmarks._claims import CELLS, shares
from benchmarks._clock import heading
from benchmarks._reader_panels import COLUMNS, PANELS, mean_gain, study_of
from benchmarks._readers import EQUAL, Design, seeds, study, truth
from equipoise import Settings, evaluate, resample
from equipoise.scale.engine import Engine, current, using

STUDIES, CHUNK, BOARDS = 300, 30, 3  # every third study has a leaderboard
LABELS = ("hard", "soft")
DESIGNS = (
    Design("100 items, 3 annotators", 100, 3),
    Design("500 items, 3 annotators", 500, 3),
    Design("300 items, 5 annotators", 300, 5),
    Design("500 items, 8 annotators", 500, 8),
    Design("300 items, 20 annotators", 300, 20),
    Design("400 items, 4 of 8", 400, 8, (4,)),
    Design("400 items, 1 to 4 of 8", 400, 8, (1, 4)),
    Design("500 items, 3 of 20", 500, 20, (3,)),
    Design("500 items, 3 of 20, unequal loads", 500, 20, (3,), loads=1.0),
    Design("300 items in 20 groups, 5 annotators", 300, 5, groups=20),
    Design("400 items in 55 groups, 8 annotators", 400, 8, groups=55),
    Design("400 items in 55 groups, read by 3 of 20", 400, 20, (3,), groups=55, whole=True),
    Design("4 grades: 200 items, 3 annotators", 200, 3, classes=4),
    Design("4 grades: 400 items, 5 annotators", 400, 5, classes=4),
    Design("4 grades: 400 items, 2 to 5 of 12", 400, 12, (2, 5), classes=4),
    Design("4 grades: 400 items in 40 groups, 8 annotators", 400, 8, classes=4, groups=40),
)
HARDER = (Design("rare positives: 500 items, 5 annotators", 500, 5, shift=2.0),)


def _one(design: Design, seed: int, right: Any, *, board: bool) -> Any:
    """Of a study: (metrics, labels, 4): value, difference, pair and leaderboard."""
    annotations, predictions = study(design, seed)
    if not board:
        predictions = [predictions[k] for k in (0, EQUAL // 2, EQUAL)]
    plan = resample(annotations, "influence", replicates=2)
    found = evaluate(
        predictions,
        annotations,
        metrics=design.metrics,
        resampling=plan,
        settings=Settings(workers=1),
    )
    out = np.full((len(design.metrics), 2, 4), np.nan)
    for k, metric in enumerate(design.metrics):
        for x, labels in enumerate(LABELS):
            first, opposite, worse = (
                found.estimate(f"m{m:02d}", metric, labels=labels)
                for m in (0, EQUAL // 2, EQUAL)
            )
            low, high = first.interval()
            gap = right[k, x, 0] - right[k, x, 1]
            if not low <= high:
                continue
            out[k, x, 0] = low <= right[k, x, 0] <= high
            low, high = (first - worse).interval()
            out[k, x, 1] = low <= gap <= high
            low, high = (first - opposite).interval()
            out[k, x, 2] = not low <= 0 <= high
            if board and _adjusts(k, x):
                better = found.family(metric, labels=labels).better[:EQUAL, :EQUAL]
                out[k, x, 3] = better.any()
    return out


def _adjusts(metric: int, labels: int) -> bool:
    """Whether the leaderboard is looked at, which takes most of the time."""
    return (metric, labels) in ((0, 0), (0, 1), (2, 1))


def _chunk(work: tuple[Design, list[int], Any]) -> Any:
    design, some, right = work
    return np.stack(
        [_one(design, seed, right, board=n % BOARDS == 0) for n, seed in enumerate(some)]
    )


def measure(designs: tuple[Design, ...], studies: int, panels: int) -> Iterator[Any]:
    """By design, as they are done: (studies, metrics, labels, 4)."""
    with using(Engine("processes")):
        asked = [(design, panels) for design in designs]
        right = current().map(_truth, asked, done=_taken)
        for design, known in zip(designs, right, strict=True):
            every = list(seeds(design, studies))
            parts = [every[start : start + CHUNK] for start in range(0, studies, CHUNK)]
            work = [(design, part, known) for part in parts]
            yield np.concatenate(current().map(_chunk, work, done=_taken))


def _taken(place: int, value: object) -> None:
    """Take a result; with this, every task is sent by itself."""
    del place, value


def _truth(work: tuple[Design, int]) -> Any:
    design, panels = work
    return truth(design, panels=panels, batches=panels // 40)


def _share(values: Any) -> str:
    found = _mean(values)
    return f"{found:.3f}" if np.isfinite(found) else "  -  "


def _show(design: Design, found: Any) -> None:
    for k, metric in enumerate(design.metrics):
        for x, labels in enumerate(LABELS):
            cells = [_share(found[:, k, x, q]) for q in range(4)]
            row = f"{design.name:48s} {metric:26s} {labels:6s}  {'   '.join(cells)}"
            print(f"   {row}", flush=True)


def _means(designs: tuple[Design, ...], found: list[Any]) -> None:
    """Mean over designs, and the worst of them, by metric and labels."""
    every: dict[tuple[str, str], list[Any]] = {}
    for design, each in zip(designs, found, strict=True):
        for k, metric in enumerate(design.metrics):
            for x, labels in enumerate(LABELS):
                every.setdefault((metric, labels), []).append(_mean(each[:, k, x]))
    print("   mean over designs (worst)")
    for (metric, labels), rows in sorted(every.items()):
        print(f"   {metric:26s} {labels:6s}  {_summary(np.array(rows))}")
    print(f"   {'all':33s}  {_summary(_rows(found))}")
    few = [x for x, design in zip(found, designs, strict=True) if design.annotators == 3]
    if few:
        print(f"   {'three annotators':33s}  {_summary(_rows(few))}")
    studies = len(found[0])
    error = np.sqrt(0.05 * 0.95 / studies)
    print(
        f"   {studies} studies a design: Monte Carlo error of one share {error:.3f}, of one of "
        f"leaderboards {error * np.sqrt(BOARDS):.3f}"
    )


def _mean(values: Any) -> Any:
    """Over studies; nan where there are none."""
    known = np.isfinite(values).sum(axis=0)
    return np.where(known, np.nansum(values, axis=0) / np.maximum(known, 1), np.nan)


def _rows(found: list[Any]) -> Any:
    return np.concatenate([_mean(each).reshape(-1, 4) for each in found])


def _summary(rows: Any) -> str:
    text = []
    for q, worst in enumerate((np.nanmin, np.nanmin, np.nanmax, np.nanmax)):
        known = rows[:, q][np.isfinite(rows[:, q])]
        text.append(f"{known.mean():.3f} ({worst(known):.3f})" if len(known) else "-")
    return "   ".join(text)


def _against_readers(studies: int) -> None:
    """Models next to readers, by panel and measure."""
    print(f"   -- models against readers, {studies} studies: {', '.join(COLUMNS)}")
    for panel in PANELS:
        for measure in ("matched", "balanced"):
            true = mean_gain(panel, measure)
            rows = [study_of(panel, measure, seed, true) for seed in range(studies)]
            cells = "   ".join(f"{share:.3f}" for share in np.mean(rows, axis=0))
            print(f"   {panel.name:58s} {measure:9s}  {cells}", flush=True)


def _added_votes(studies: int) -> None:
    """Votes added by a plan, and as many spread evenly."""
    print(f"   -- votes added, {studies} studies: {', '.join(added.COLUMNS)}")
    for items, people in ((300, 8), (200, 5)):
        for per_item in added.PER_ITEM:
            for policy in added.POLICIES:
                rows = added.study_rows(studies, per_item, policy, items=items, people=people)
                share, half, _ = rows.mean(axis=0)
                name = f"{items} items, {people} annotators, {per_item:g} votes each, {policy}"
                print(f"   {name:58s} {share:.3f}   {half:.4f}   {rows[:, 2].std():.4f}")


def _claims(studies: int) -> None:
    """Every cell, with what it promises and its Monte Carlo error."""
    print(f"   -- claims, {studies} studies a cell: mean, Monte Carlo error, promised")
    for cell in CELLS:
        means, errors = shares(cell, studies)
        for (name, (low, high)), mean, error in zip(
            cell.columns.items(), means, errors, strict=True
        ):
            kept = "" if low <= mean <= high else "   (missed)"
            if kept and low - 2 * error <= mean <= high + 2 * error:
                kept = "   (within two errors)"
            row = f"{cell.name:52s} {name:34s} {mean:.3f} ± {error:.3f}"
            print(f"   {row}   {low:.2f} to {high:.2f}{kept}", flush=True)
    _planned_power(max(studies // 12, 8))


def _planned_power(pilots: int) -> None:
    """Power that studies have which pilots of 150 items and 6 readers plan for 80 %."""
    for taste, people in ((0.1, 8), (0.1, 20), (0.2, 20)):
        powers = list(planning.powers(pilots, taste, people))
        quantiles = np.nanquantile(powers, (0.1, 0.5, 0.9))
        text = ", ".join(f"{power:.2f}" for power in quantiles)
        print(f"   plan, taste {taste}, {people} annotators: power at 10, 50, 90 %: {text}")
    for people, goal in ((12, {"margin": 0.06}), (12, {"width": 0.08}), (25, {"width": 0.06})):
        beyond = list(planning.goal_powers(pilots, people, **goal))
        powers = [np.mean(found > 0) for found in beyond]
        text = ", ".join(f"{power:.2f}" for power in np.quantile(powers, (0.1, 0.5, 0.9)))
        (name, size), spare = next(iter(goal.items())), np.median(beyond)
        print(
            f"   plan, {name} {size:g}, {people} annotators: reached at 10, 50, 90 %: {text}"
            + f"; half widths {spare / size:.0%} below it" * (name == "width"),
            flush=True,
        )
    print(f"   {pilots} pilots, 40 studies of each: Monte Carlo error of one share 0.06")


PARTS = {"--readers": _against_readers, "--added": _added_votes, "--claims": _claims}


def main() -> None:
    quick = "--quick" in sys.argv or bool(os.environ.get("EQUIPOISE_QUICK"))
    studies, panels = (30, 200) if quick else (STUDIES, 400)
    named = [word.removeprefix("--studies=") for word in sys.argv if "--studies=" in word]
    studies = int(named[0]) if named else studies
    alone = [part for name, part in PARTS.items() if name in sys.argv]
    for part in alone:
        part(studies)
    if alone:
        return
    heading(f"inference: coverage of two-way t, nominal 0.95, {studies} studies a design")
    for title, designs in (("designs", DESIGNS), ("harder", HARDER)):
        print(f"   -- {title}")
        print("   columns: value, difference, equal pair apart, any of ten equal models apart")
        found = []
        for design, each in zip(designs, measure(designs, studies, panels), strict=True):
            _show(design, each)
            found.append(each)
        _means(designs, found)
    for part in PARTS.values():
        part(studies)


if __name__ == "__main__":
    main()
