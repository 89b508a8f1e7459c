"""Sample: a report whose findings hold galleries, with pictures inside or beside the page."""

from pathlib import Path

from equipoise.types import Card, Finding, Gallery, Picture, Report, Suspect

DOT = "data:image/gif;base64,R0lGODlhAQABAPAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
ODD = 'odd, "name" <b>& long/enough_to_break_over_some_lines_0123456789.png'


def report(*, source: str = DOT, shots: int = 30, run: str = "abc") -> Report:
    """Two galleries: images alone, and pairs."""
    names = [ODD, "constructor", *(f"images/scan_{n:03}.png" for n in range(2, shots))]
    alone = [
        Suspect(name, place + 1.0, 1 - place / shots, (Picture(name, source),),
                "labelled cat, looks like dog" if place % 2 else "", flagged=place < 3)
        for place, name in enumerate(names)
    ]  # fmt: skip
    pairs = [
        Suspect(f"{a} | {b}", place + 1.5, 1 - place / 9,
                (Picture(a, source, "train"), Picture(b, "", "test")), "group 1")
        for place, (a, b) in enumerate(zip(names[2:6], names[6:10], strict=True))
    ]  # fmt: skip
    return Report(
        title="Scan",
        card=Card(answer="Three of 30 images do not seem to belong."),
        findings=tuple(
            Finding(
                key=task,
                title=task,
                sentence=f"A sentence on {task}.",
                nav=task,
                charts=(
                    Gallery(name=task, caption="Most suspicious first", task=task,
                            question="Is it a problem?", yes="problem", no="fine", run=run,
                            rows=rows),
                ),
            )
            for task, rows in (("off_topic", alone), ("near_duplicates", pairs))
        ),
    )  # fmt: skip


def write(folder: Path, name: str, whole: Report) -> Path:
    """The page as a file."""
    from equipoise.report.page import render

    path = folder / name
    path.write_text(render(whole), encoding="utf-8")
    return path
