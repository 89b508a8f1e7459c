"""Sample: a report that holds every kind of chart, column and finding, with any names."""

import numpy as np

from equipoise.types import (
    Column,
    Dot,
    Dots,
    Finding,
    Heat,
    Line,
    Lines,
    Notice,
    Point,
    Report,
    Table,
)

NAN = float("nan")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=HYPERLINK(1)",
    "a_b & c% $d$ {e} ~f^ \\g #h",
    "[bold red]rich[/bold red]",
    "\x1b[31mred\x1b[0m",
    "at_least",
    "| pipe | `tick` *star*",
)
PLAIN = ("resnet", "vit", "densenet")


def charts(models):
    """One chart of every kind, each with something undefined in it."""
    rng = np.random.default_rng(0)
    values = np.linspace(0.9, 0.8, len(models))
    leads = values[:, None] - values[None, :]
    steps = [(float(i), str(k)) for i, k in enumerate((1, 3, 5))]
    lines = [
        Line(name, [(0.0, v), (1.0, v - 0.01), (2.0, NAN)], name,
             [(0.0, v - 0.1, v + 0.1), (1.0, v - 0.1, v + 0.1)])
        for name, v in zip(models, values, strict=True)
    ]  # fmt: skip
    dots = [Dot(name, v, v - 0.02, v + 0.02, name)
            for name, v in zip(models, values, strict=True)]  # fmt: skip
    square = np.where(np.eye(len(models)) > 0, NAN, rng.random((len(models),) * 2))
    return (
        Dots(name="dots", caption="Dots", axis="value", zero=True,
             rows=[*dots, Dot(models[0], NAN)]),
        Lines(name="lines", caption="Lines", x="votes", y="value", lines=lines, ticks=steps,
              bars=[0.5 for _ in steps], bar_title="items left",
              marks=[(1.0, "here")]),
        Heat(name="heat", caption="Heat", rows=models, columns=models, values=square,
             row_models=True, x="to"),
        Heat(name="signed", caption="Signed", rows=["a"], columns=["b", "c"],
             values=np.array([[0.1, -0.2]]), scale="signed"),
        Heat(name="pairs", caption="Pairs", rows=models, columns=models, values=leads,
             scale="signed", row_models=True, strong=leads != 0, strong_title="apart"),
        Lines(name="scatter", caption="Scatter", x="hard", y="soft", diagonal=True,
                points=[Point(n, v, v + 0.01, n) for n, v in zip(models, values, strict=True)]),
        Lines(name="map", caption="Map", x="", y="", square=True,
                points=[Point(n, *rng.normal(size=2)) for n in models]),
        Lines(name="ranks", caption="Ranks", x="", y="rank", downward=True,
              ticks=[(0.0, "hard"), (1.0, "soft")],
              lines=[Line(n, [(0.0, i + 1.0), (1.0, float(len(models) - i))], n)
                     for i, n in enumerate(models)]),
    )  # fmt: skip


def table(models, **more):
    """A table with a column of every kind."""
    columns = (
        Column("model", "Model", "model"),
        Column("value", "value", "number", ("low", "high")),
        Column("shift", "shift", "change"),
        Column("share", "share", "percent"),
        Column("items", "items", "count"),
        Column("rank", "rank", "rank"),
        Column("p", "p", "p"),
        Column("spread", "spread", "figures"),
        Column("near", "near", "names"),
        Column("time", "time", "duration", brief=False),
    )
    rows = [
        {"model": name, "value": 0.9 - i / 100, "low": 0.8, "high": 1.0, "shift": -0.00005,
         "share": 0.996, "items": 1200, "rank": i + 1.0, "p": 0.0001, "spread": 0.0123,
         "near": list(models[:2]), "time": 14200.0, "hidden": "=1"}
        for i, name in enumerate(models)
    ]  # fmt: skip
    none = dict.fromkeys(rows[0], None) | {"model": models[0], "near": []}
    return Table(**({"name": "scores", "caption": "Scores", "columns": columns,
                     "rows": [*rows, none]} | more))  # fmt: skip


def report(models=PLAIN):
    """A report with two tasks, two metrics, every chart and a finding that was left out."""
    odd = Notice("odd", "{items:count} items are odd.", (), {"items": 3})
    fronts = [
        Finding(key="verdict", title="In short", sentence=f"{models[0]} leads.",
                more=("It may be chance.",), tables=(table(models, open=True),),
                notices=(odd.of(task),), task=task, metric=metric)
        for task in ("macro average", "Edema") for metric in ("AUROC", "AP")
    ]  # fmt: skip
    drawn = [
        Finding(key=chart.name, title=f"What of {chart.name}?", sentence="It is so.",
                charts=(chart,), note="Thus.", methods="It was done [@wilson1927]",
                references=("wilson1927",))
        for chart in charts(models)
    ]  # fmt: skip
    missing = Finding(
        key="experts", title="Experts", sentence="Anonymous votes.", left_out=True
    )
    return Report(
        title=f"Report on {models[0]}", models=tuple(models),
        findings=(*fronts, *drawn, missing),
        known=("3 models",), terms=(("AUROC", "An area."),), settings=(("Seed", "0"),),
        scope="Some files.", banner="Simulated.", notices=(odd,), task="macro average",
        methods=("First this.",),
    )  # fmt: skip
