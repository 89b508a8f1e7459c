"""Method: what was resampled and why, what the numbers mean, how to make them again."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report import question
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count
from equipoise.report.scope import scope_words
from equipoise.report.tables import facts, folded, row, table
from equipoise.report.view import View
from equipoise.report.votes import any_several, whole


def paragraph(words: str) -> Html:
    """Make a paragraph of text."""
    return element("p", words)


def resampling(view: View) -> Html:
    """Say what was resampled, why, and how intervals were read off."""
    how = view.header["settings"]
    ends = f"{view.level} intervals ({how['interval']})"
    grouped = how.get("group") is not None and how.get("items_redrawn") is True
    group = f" Items of the same {how['group']} stay together." if grouped else ""
    scope = scope_words(view)
    return join(
        [
            element("p", element("strong", "Resampling: "), f"{_reason(view)}{group}"),
            element("p", element("strong", "Scope: "), scope) if scope else Html(""),
            paragraph(
                f"{count(how['replicates'], 'resample')}, the same for all models, metrics and "
                f"labels, so that differences and ranks are paired; {ends}. P(best) is the "
                "share of resamples in which a model is best, shared equally among ties. "
                f"Soft labels: {how['soft']}. Hard labels: {how['hard']}.{_hard(view)}"
                f"{_wilson(view)}"
            ),
            paragraph(
                "Intervals hold for each pair by itself and are not adjusted for the number "
                "of pairs. They describe the uncertainty that was resampled and no other."
            ),
        ]
    )  # fmt: skip


def _hard(view: View) -> str:
    """Say what metrics of whole distributions take as the hard label of several classes."""
    if not any_several(view) or not any(whole(metric) for metric in view.header["metrics"]):
        return ""
    most = "mass" if view.header.get("truth_model") else "votes"
    return f" Metrics of whole distributions take the class with most {most}, shared by ties."


def _wilson(view: View) -> str:
    """Say that precision at k has an interval of its own, where it has."""
    names = [str(metric["name"]) for metric in view.header["metrics"]]
    ungrouped = view.header["settings"].get("group") is None and "hard" in view.labels
    if ungrouped and any(name.startswith("precision_at_") for name in names):
        return " Precision at k with hard labels has Wilson’s interval."
    return ""


def _asked(view: View) -> Html:
    """Show the question; old runs have none."""
    if not view.header.get("question"):
        return Html("")
    said = question.sentence(view)
    words = paragraph(said) if said else Html("")
    return join([element("h3", "Question"), words, question.draw(view)])


def _reason(view: View) -> str:
    """Say what was resampled and why; the reason may begin with the name of the method."""
    name, why = (str(view.header["settings"][key]) for key in ("resample", "resample_reason"))
    return why if why.startswith(name) else f"{name}. {why}"


def _truth_model(view: View) -> Html:
    """Show the model that made the truth, where it is not the votes themselves."""
    given = view.header.get("truth_model")
    models = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    rows = [
        row(name.replace("_", " "), [question.cell(value)], room=question.ROOM)
        for model in models
        if isinstance(model, Mapping)
        for name, value in model.items()
        if value not in (None, "", [], {}) and (name != "tasks" or len(value) > 1)
    ]
    if not rows:
        return Html("")
    made = table("How the truth was made", ["Fact", "value"], rows, "plain")
    return join([element("h3", "Truth"), made])


def definitions(view: View) -> Html:
    """Define every metric."""
    return element(
        "dl",
        join(
            element("div", element("dt", metric["title"]), element("dd", metric["definition"]))
            for metric in view.header["metrics"]
        ),
        class_="terms",
    )


def _untraced(view: View) -> Html:
    """Say that no item was traced, where the page has no section on influence."""
    if view.header["influential"]:
        return Html("")
    see = "; see the hardest items" if view.header.get("hardest") else ""
    return paragraph(f"No items were traced: influence is known for metrics of ranks{see}.")


def provenance(view: View) -> Html:
    """List settings, versions and the hashes of the inputs."""
    header, how = view.header, view.header["settings"]
    versions: Mapping[str, Any] = header.get("versions", {})
    entries = [
        ("equipoise", str(header.get("equipoise", "undefined"))),
        *((name, str(version)) for name, version in versions.items()),
        ("Seed", str(how["seed"])),
        ("Resamples", count(how["replicates"])),
        ("Plan", str(how["plan"])),
    ]
    rows = [
        row(
            str(given["name"]),
            [given["role"], count(given["bytes"]), element("code", given["sha256"])],
        )
        for given in header.get("inputs", ())
    ]
    heads = ["Input", "role", "bytes", "SHA-256"]
    return join([facts(entries), table("Inputs", heads, rows, "hashes")])


def again(view: View) -> Html:
    """Say how to cite and how to reproduce the page."""
    header, how = view.header, view.header["settings"]
    version = header.get("equipoise", "undefined")
    cite = (
        f"“{header['title']}”. Evaluated with equipoise {version}, resampling "
        f"{how['resample']}, {count(how['replicates'], 'resample')}, seed {how['seed']}, "
        f"plan {how['plan']}."
    )
    return join(
        [
            element("p", element("strong", "To cite: "), cite),
            element(
                "p", element("strong", "To make it again: "),
                "the same inputs (hashes below), version, settings and seed give the same "
                "run.json, the same replicates and this page, byte for byte.",
            ),
        ]
    )  # fmt: skip


def notices(view: View) -> Html:
    """List what the reader should know about the data."""
    given = view.header["notices"]
    if not given:
        return paragraph("The evaluation raised no notices.")
    return element("ul", join(element("li", notice) for notice in given))


def draw(view: View) -> Html:
    """Put the box together."""
    return join(
        [
            resampling(view),
            _asked(view),
            _truth_model(view),
            element("h3", "Definitions"), definitions(view), _untraced(view),
            element("h3", "Notices", id="notices"), notices(view),
            element("h3", "Reproduce"), again(view),
            folded("Versions, seed and hashes of the inputs", provenance(view)),
        ]
    )  # fmt: skip
