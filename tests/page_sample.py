"""Samples: reports with an answer card, of studies of every kind, for the page."""

from dataclasses import replace

import numpy as np

from equipoise.types import (
    Card,
    Column,
    Dispute,
    Dot,
    Dots,
    Finding,
    Heat,
    Line,
    Lines,
    Notice,
    Pattern,
    Point,
    Report,
    Standing,
    Standings,
    Strip,
    Strips,
    Table,
    Worklist,
    thousandths,
)

NAN = float("nan")
TASKS = ("Pleural Effusion", "Atelectasis", "Edema", "Cardiomegaly", "Consolidation")
READERS = tuple(f"bc{n}" for n in range(1, 9))
BOARD = """sensexdr .840 .880 .861* .917= .835= .872*= .833 .849=
ihil .840 .880 .861 .917= .835= .872*= .832 .849=
drnet .839 .879 .860 .917= .835= .872*= .828 .849=
ngango3 .839 .878 .860 .918 .840* .858v .836 .848
uestc .840 .878 .860 .917= .835= .870 .827 .849=
yww211 .841 .877 .860 .919 .826v .866 .836 .852
ngango2 .838 .877 .859 .918 .839 .865 .835 .836
hieupham .838 .876 .858 .920* .839 .863 .837* .832v
jfaboy .839 .876 .858 .918 .840 .857v .823 .854*
desmond .837 .872 .855v .907v .828 .860v .834 .848"""
BELOW = (0.0, -0.0001, -0.001, -0.0014, -0.0015, -0.0016, -0.0027, -0.003, -0.0031, -0.0057)
WORST = (
    -0.0068,
    -0.0069,
    -0.0078,
    -0.0096,
    -0.0086,
    -0.0081,
    -0.0108,
    -0.0115,
    -0.0113,
    -0.0133,
)
GAINS = {"bc3": 0.148, "bc2": 0.071, "bc6": 0.064, "bc7": 0.063, "bc4": 0.056, "bc1": 0.04,
         "bc8": 0.02, "bc5": 0.008}  # fmt: skip
VOTES = {  # share of items by yes votes, agreement with its ends, and how often readers say yes
    "Pleural Effusion": ((0.49, 0.136, 0.066, 0.056, 0.054, 0.032, 0.046, 0.068, 0.052),
                         (0.52, 0.43, 0.62), (0.39, 0.23, 0.22, 0.21, 0.19, 0.31, 0.14, 0.29)),
    "Atelectasis": ((0.322, 0.12, 0.086, 0.07, 0.098, 0.07, 0.102, 0.092, 0.04),
                    (0.42, 0.33, 0.51), (0.32, 0.31, 0.49, 0.39, 0.19, 0.34, 0.28, 0.5)),
    "Edema": ((0.506, 0.146, 0.094, 0.074, 0.044, 0.038, 0.038, 0.034, 0.026),
              (0.42, 0.33, 0.5), (0.24, 0.16, 0.21, 0.17, 0.19, 0.28, 0.2, 0.15)),
    "Cardiomegaly": ((0.296, 0.164, 0.116, 0.096, 0.076, 0.09, 0.092, 0.066, 0.004),
                     (0.32, 0.07, 0.57), (0.25, 0.34, 0.08, 0.18, 0.65, 0.42, 0.28, 0.29)),
    "Consolidation": ((0.628, 0.118, 0.12, 0.052, 0.044, 0.02, 0.012, 0.006, 0.0),
                      (0.25, 0.11, 0.39), (0.18, 0.1, 0.25, 0.14, 0.03, 0.11, 0.03, 0.06)),
}  # fmt: skip
MARKUP = (
    "<script>alert(1)</script>-a-transformer-with-a-rather-long-name-v2",
    '"><img src=x onerror=alert(1)>',
    "=HYPERLINK(1)",
    "MixedWoMMWNetworkMMMMWWWW pretrained on everything that could be found",
    "b" * 70,
)


def _board_cell(text):
    return Standing(float(f"0{text[:4]}"), "v" not in text, "*" in text, "=" in text)


def chexpert():
    """The study of the target page: ten models, five findings, eight radiologists."""
    lines = [line.split() for line in BOARD.splitlines()]
    models = tuple(line[0] for line in lines)
    below = ("desmond",)
    board = Standings(
        name="standings", caption="Best groups by finding", metric="Soft AUROC",
        columns=("Mean of five", *TASKS), models=models,
        cells=[[_board_cell(one) for one in line[3:]] for line in lines],
        intervals=[(float(line[1]), float(line[2])) for line in lines],
        known_to=(0.02, 0.02, 0.02, 0.03, 0.08, 0.03),
    )  # fmt: skip
    forest = Dots(
        name="below", axis="", zero=True, zero_title="the best", margin=-0.01,
        caption="How far below the best model, whichever it is. Dot: gap seen. Line: 95%, all "
        "models together. Bold: inside the margin.",
        rows=[
            Dot(name, gap, worst, -0.0004 if name in below else 0.0, name,
                remark=f"at most {-worst + 0.0005:.3f}", hollow=name in below,
                strong=worst > -0.01)
            for name, gap, worst in zip(models, BELOW, WORST, strict=True)
        ],
    )  # fmt: skip
    finder = np.random.default_rng(3)
    gains = [
        Dot(reader, gain + float(finder.normal(0, 0.006)) - 0.012 * (name in below), model=name,
            hollow=name in below, remark=f"+{gain:.2f}" if place == 0 else "")
        for reader, gain in GAINS.items() for place, name in enumerate(models)
    ]  # fmt: skip
    readers = Dots(
        name="readers", axis="", zero=True, zero_title="as the radiologist",
        caption="Sensitivity a model adds at each radiologist’s own false-positive rate. Each "
        "dot one model; last row sensexdr, 95%.",
        rows=[*gains, Dot("all eight", 0.063, 0.025, 0.101, models[0], remark="+0.06",
                          strong=True)],
    )  # fmt: skip
    findings = (
        Finding(
            key="standings", title="Which models are best?", charts=(board,), nav="Findings",
            sentence="Five models stay in the best group for every finding; Edema tells most "
            "apart, Cardiomegaly none.",
            more=("In every best group: sensexdr, ihil, drnet, uestc and ngango2.",
                  "Intervals of single values overlap, yet models can differ: all models score "
                  "the same studies, so a difference is known about four times better."),
            note="Soft AUROC is the chance that a study one radiologist calls positive scores "
            "above one that a radiologist calls negative.",
        ),
        Finding(key="models", title="How far below the best?", charts=(forest,), nav="Models",
                sentence="Six models are shown to be within 0.01 of the best, all ten within "
                "0.014."),
        Finding(key="experts", title="Models and readers", charts=(readers,),
                sentence="At equal false alarms models find 6 in 100 more positives than a "
                "radiologist; bc5 finds as many."),
        Finding(key="readers", title="Agreement", charts=(_strips(VOTES, READERS),),
                nav="Readers",
                sentence="Radiologists call Cardiomegaly in 8% to 65% of the same studies; "
                "they agree least on Consolidation."),
        _worklist(models, TASKS, READERS, hollow=below),
        *_evidence(models),
    )  # fmt: skip
    return Report(
        title="CheXpert chest X-rays", models=models, findings=findings,
        known=("10 models", "5 findings"), **_foot(),
        card=Card(
            answer="Nine of ten models cannot be told apart; desmond falls behind.",
            lede="Soft AUROC, mean of five findings: 0.858 to 0.861 for the nine, 0.855 for "
            "desmond. None is more than 0.014 below the best.",
            standing=tuple((name, name not in below) for name in models),
            holds_for="Studies and radiologists like these. 500 studies, each read by the same "
            "8 radiologists; both count as samples.",
            settled_by="Naming the smallest difference that matters: at 0.01, six models are "
            "good enough; at 0.014, all ten. More studies alone would not part sensexdr from "
            "ngango3.",
            caveat="Nine is fewer than it looks: drnet, ihil and sensexdr give the same scores "
            "in four of five findings, uestc in three.",
        ),
        command="equipoise evaluate --dataset chexpert --margin 0.01",
    )  # fmt: skip


def _foot():
    return {
        "terms": (("best group", "Models that are not surely below any other."),
                  ("margin", "The smallest difference that matters.")),
        "settings": (("Level", "95%"), ("Seed", "0")),
        "notices": (Notice("odd", "{items:count} items are odd.", (), {"items": 3}),),
        "references": ("owen2007", "groger2025"),
    }  # fmt: skip


def _strips(votes, people, *, yes="yes"):
    rows = []
    for task, (shares, alpha, rates) in votes.items():
        last = len(shares) - 1
        split = [0.3 < place / last < 0.7 for place in range(last + 1)]
        some = sum(share for share, one in zip(shares, split, strict=True) if one)
        rows.append(
            Strip(
                task,
                [(share, min(place, last - place) / (last / 2), one)
                 for place, (share, one) in enumerate(zip(shares, split, strict=True))],
                f"{shares[0]:.0%} all say no", f"{shares[-1]:.0%} all say {yes}",
                f"{some:.0%} split", alpha,
                list(zip(people, rates, strict=False)),
            )
        )  # fmt: skip
    return Strips(name="strips", caption="", votes_title="Votes, 500 studies from no to yes; "
                  "split = 3 to 5 of 8", alpha_title="Agreement, alpha, 95%",
                  rates_title=f"How often each says {yes}", rows=rows)  # fmt: skip


def _worklist(
    models, tasks, people, *, classes=("no", "yes"), ordered=False, hollow=(), votes=8
):
    random = np.random.default_rng(1)
    disputes = []
    for place, task in enumerate(tasks):
        patterns = []
        for _ in range(4):
            said = [
                int(vote) for vote in random.integers(0, len(classes), len(people) or votes)
            ]
            if len(classes) > 2:
                said[0] = None
            if not people:
                said = sorted(said, key=lambda vote: -1 if vote is None else vote)
            items = [
                (f"patient{random.integers(10_000, 99_999)}/study1", random.random(len(models)))
                for _ in range(3)
            ]
            patterns.append(Pattern(said, int(random.integers(4, 15)), items))
        rates = [float(x) for x in random.random(len(people))]
        disputes.append(Dispute(task, 131 - 17 * place, rates, "49 patterns; one says yes most "
                                "often (98%)", patterns))  # fmt: skip
    chart = Worklist(
        name="disputed", caption="Open a finding for its commonest vote patterns; dots are "
        "models, placed by how many of the studies they score lower.",
        annotators=people, classes=classes, models=models, disputes=disputes, ordered=ordered,
        hollow=hollow,
    )  # fmt: skip
    rows = [{"item": f"i{n}", "yes": n % 5} for n in range(40)]
    table = Table(name="disputed", caption="Disputed", rows=rows, page=False, download=True,
                  columns=[Column("item", "item"), Column("yes", "yes", "count")])  # fmt: skip
    return Finding(key="disputed", title="What is disputed?", nav="Disputed", charts=(chart,),
                   tables=(table,), sentence=f"{sum(d.number for d in disputes)} cases split "
                   "the annotators: a worklist for adjudication.")  # fmt: skip


def _evidence(models):
    """Folds with every kind of chart, and one with a choice of tasks."""
    random = np.random.default_rng(2)
    total = len(models)
    ranks = random.dirichlet(np.ones(total) * 0.7, total)
    leads = np.subtract.outer(np.linspace(0.01, 0, total), np.linspace(0.01, 0, total))
    steps = [(float(k), str(k)) for k in range(1, 8)]
    curves = [
        Line(name, [(x, 0.93 - 0.005 * x + 0.002 * float(random.normal())) for x, _ in steps],
             name, [(x, 0.88, 0.95) for x, _ in steps])
        for name in models
    ]  # fmt: skip
    numbers = Table(
        name="numbers", caption="Every number", columns=[Column("model", "Model", "model"),
        Column("value", "value", "number", ("low", "high"))],
        rows=[{"model": name, "value": 0.86, "low": 0.84, "high": 0.88} for name in models],
    )  # fmt: skip
    charts = {
        "stability": Heat(
            name="ranks", caption="Share of resamples at each rank", rows=models,
            columns=[str(n + 1) for n in range(total)], values=ranks, row_models=True, x="rank",
        ),
        "leave_one_out": Dots(
            name="without", caption="Without each reader; dots are models", axis="Soft AUROC",
            rows=[Dot(f"without {who}", 0.86 + 0.003 * float(random.normal()), model=name)
                  for who in READERS[:5] for name in models], reference=0.86,
        ),
        "thresholds": Lines(
            name="cuts", caption="By the yes votes that make a positive", x="yes votes",
            y="mean AUROC", lines=curves, ticks=steps, bar_title="positives left",
            bars=[float(900 - 120 * k) for k in range(7)],
        ),
        "pairs": Heat(name="pairs", caption="Every pair", rows=models, columns=models,
                      values=np.where(np.eye(total) > 0, np.nan, leads), scale="signed",
                      row_models=True, x="lead over", strong=abs(leads) > 0.006,
                      strong_title="shown to differ",
                      texts=[[thousandths(x) for x in row] for row in leads.tolist()]),
        "ranks": Lines(name="labels", caption="Hard and soft", x="", y="rank", downward=True,
                       ticks=[(0.0, "hard"), (1.0, "soft")],
                       lines=[Line(name, [(0.0, n + 1.0), (1.0, float(total - n))], name)
                              for n, name in enumerate(models)]),
        "scatter": Lines(name="plane", caption="Hard against soft", x="hard", y="soft",
                           diagonal=True, points=[
                               Point(name, 0.9 - n / 80, 0.89 - n / 90, name)
                               for n, name in enumerate(models)]),
        "map": Lines(name="map", caption="Who votes alike", x="", y="", square=True, points=[
            Point(f"reader {n}", *random.normal(size=2)) for n in range(9)]),
        "many_lines": Lines(name="groups", caption="Groups", x="votes", y="power", lines=[
            Line(f"group {k}", [(1.0, 0.2 + k / 10), (2.0, 0.3 + k / 10), (3.0, 0.4 + k / 9)])
            for k in range(4)], y_range=(0.0, 1.0)),
    }  # fmt: skip
    folds = [
        Finding(key=key, title=f"What of {key.replace('_', ' ')}?", evidence=True,
                sentence=f"Of {key.replace('_', ' ')}: the order of the best is not a finding.",
                more=("It was looked at twice.",), charts=(chart,), tables=(numbers,),
                note="Resamples of studies and readers.", references=("wilson1927",))
        for key, chart in charts.items()
    ]  # fmt: skip
    chosen = [
        Finding(key="by_task", title="How certain is each task?", evidence=True, task=task,
                sentence=f"{task} is known well.", charts=(charts["scatter"],))
        for task in TASKS[:3]
    ]  # fmt: skip
    missing = Finding(key="gold", title="Against gold", left_out=True,
                      sentence="There is no gold; it takes a file of it.")  # fmt: skip
    return [*folds, *chosen, missing]


def study(models, tasks=("",), **how):
    """A study of some models and tasks; `how` are classes, order, readers and names."""
    people = how.get("people", READERS)
    classes, ordered = how.get("classes", ("no", "yes")), how.get("ordered", False)
    random = np.random.default_rng(0)
    total = len(models)
    below = models[-max(1, total // 4) :] if total > 2 else ()
    several = len(tasks) > 1
    columns = (f"Mean of {len(tasks)}", *tasks) if several else ("Soft AUROC",)
    values = np.linspace(0.9, 0.8, total)
    scored = list(zip(models, values.tolist(), strict=True))
    board = Standings(
        name="standings", caption="Best groups", metric="Soft AUROC", columns=columns,
        models=models,
        cells=[[Standing(v + 0.01 * float(random.normal()), name not in below, n == 0)
                for _ in columns] for n, (name, v) in enumerate(scored)],
        intervals=[(v - 0.02, v + 0.02) for v in values], known_to=[0.02] * len(columns),
        foot=[("alpha", ["0.42"] * len(columns))],
    )  # fmt: skip
    forest = Dots(
        name="below", caption="How far below the best", axis="", zero=True, margin=-0.05,
        zero_title="the best",
        rows=[Dot(name, v - 0.9, v - 0.93, min(0.0, v - 0.88), name, hollow=name in below,
                  remark=f"at most {0.93 - v:.3f}") for name, v in scored],
    )  # fmt: skip
    gains = Dots(
        name="readers", caption="Models against readers", axis="", zero=True,
        rows=[Dot(who, float(random.normal(0.05, 0.03)), model=name, remark="+0.05")
              for who in people for name in models],
    )  # fmt: skip
    shares = (0.4, 0.2, 0.1, 0.1, 0.2)
    votes = {task: (shares, (0.4, -0.1, 0.6), [0.3 + n / 40 for n in range(len(people))])
             for task in tasks}  # fmt: skip
    findings = [
        Finding(key="standings", title="Which?", nav="Models", charts=(board,),
                sentence="The first models cannot be told apart.", note="So it was done."),
        Finding(key="models", title="How far?", charts=(forest,), nav="Gap",
                sentence="Some models are shown to be within 0.05 of the best."),
        Finding(key="experts", title="Readers?", charts=(gains,) if people else (),
                left_out=not people, sentence="Models find 5 in 100 more positives."),
        Finding(key="readers", title="Agreement", charts=(_strips(votes, people),),
                nav="Readers", sentence="They agree somewhat."),
        _worklist(models, tasks, people, classes=classes, ordered=ordered, hollow=below,
                  votes=how.get("votes", 8)),
        *_evidence(models),
    ]  # fmt: skip
    return Report(
        title=how.get("title", "A study"), models=tuple(models), findings=tuple(findings),
        known=(f"{total} models",), **_foot(),
        card=Card(
            answer=f"{models[0]} cannot be told apart from the others.", lede="Some numbers.",
            standing=tuple((name, name not in below) for name in models),
            holds_for="Items and readers like these.", settled_by="More items.",
            caveat=how.get("caveat", ""),
        ),
        command="equipoise evaluate scores.csv -a votes.csv",
    )  # fmt: skip


SAMPLES = {
    "chexpert": chexpert,
    "two models": lambda: study(("resnet50", "vit-large")),
    "forty models": lambda: study(tuple(f"model-{n:02d}-of-the-family" for n in range(40))),
    "nominal": lambda: study(
        ("resnet", "vit", "swin"), classes=("wake", "N1", "N2", "N3", "REM"), votes=5
    ),
    "grades": lambda: study(
        ("resnet", "vit", "swin"), ordered=True,
        classes=("none", "mild", "moderate", "severe", "proliferative"),
    ),
    "rankings": lambda: study(
        ("gpt", "claude", "llama"), people=READERS[:3],
        classes=tuple(f"a differential diagnosis number {n}" for n in range(12)),
    ),
    "anonymous": lambda: study(("a", "b", "c"), people=(), votes=50),
    "markup": lambda: study(
        MARKUP, (MARKUP[0], MARKUP[3]), people=tuple(f"<b>{'reader' * 5}{n}" for n in range(4)),
        title=f"{MARKUP[1]} a title", caveat=MARKUP[3],
    ),
}  # fmt: skip


def without_card(report):
    """The same as a command without an answer makes it."""
    return replace(report, card=None, banner="Simulated.", scope="Some files.")
