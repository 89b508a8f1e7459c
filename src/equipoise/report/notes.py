"""Notes: how to read each section, and what its numbers mean."""

from equipoise.report.numerals import listing
from equipoise.report.view import View
from equipoise.report.votes import any_model, any_several, whole

NOTES = {
    "verdict": (
        "A lead is the paired difference in favour of the first model (the sign is turned "
        "where lower is better), taken over the same resamples. If its interval includes 0, "
        "the data do not separate the two models. Both drawings have one scale and one size "
        "of dot, a fiftieth of the resamples each. † marks a score or a "
        "lead outside its own interval, explained under the forest plot."
    ),
    "leaderboard": (
        "Models stand in the order of their soft rank, here and in every figure of a metric. "
        "Ties share the mean of their ranks. ▲ means a better rank with soft labels. † marks "
        "a score outside its own interval, explained under the forest plot."
    ),
    "forest": (
        "Equal lengths are equal differences in both drawings. Mark: the score. Thin line: "
        "the interval; thick line: the middle half of the resamples; tick: their mean. The "
        "shift is that mean minus the score. An interval can leave out its own score (†, "
        "dashed line) or lead (†): read it as how steady they are, not as where the truth "
        "lies. "
    ),
    "ranks": (
        "Thick lines change rank. Steadiness is the mean Spearman correlation of the "
        "resampled order with the original one: 1 is an order that never changes."
    ),
    "probabilities": (
        "Each row adds up to 100%. A steady ranking is a dark diagonal; a wide row is a model "
        "whose place the data leave open."
    ),
    "differences": (
        "Follow a cell’s column up to one model and its row right to the other: the cell is "
        "the lead of the first. Orange means the order is the other way round. Intervals are "
        "not adjusted for the number of pairs, so among many equal models a few dots are "
        "expected."
    ),
    "reliability": (
        "Predictions are sorted into ten equally wide bins; with more than two classes it is "
        "the largest probability of each item. The error is the distance of a bin from the "
        "diagonal, averaged over items (the expected calibration error with ten bins and soft "
        "labels; the metric of that name may use others). Where annotators disagree a model "
        "that says so is rewarded. Bins with few items scatter by chance."
    ),
    "retained": (
        "Items are sorted by a score of their own against the soft labels, for each model by "
        "itself, and the worst are set aside step by step. The labels are used for this, so "
        "it is no way to select items beforehand. The area is the mean height of a line. "
        "Items of equal score leave together, by equal shares."
    ),
    "hardest": (
        "Items with the worst score of the model against the soft labels: the first proper "
        "score among the metrics, or else the Brier score. A disputed item scores badly "
        "whatever a model says of it. Both bars have the same colours, one per class; grey is "
        "all classes not named. A wrong model and wrong votes look the same here: look at the "
        "item."
    ),
    "annotators": (
        "The positive share is over the votes each annotator gave. Agreement is with the mean "
        "of the others on the same items."
    ),
    "agreement": (
        "Krippendorff’s alpha and the kappas take off what chance would give: 0 is chance, 1 "
        "is perfect. Words for kappa are those of Landis and Koch; below 0.667 Krippendorff "
        "would not treat one label as the truth. Intervals redraw items, annotators held "
        "fixed. Alpha without an annotator is that of all others."
    ),
    "labels": (
        "The soft label of an item is the share of positive votes it received, or what the "
        "chosen aggregation made of them. Hard labels keep only the side of the majority."
    ),
    "certainty": (
        "The certainty of an item is the chance that the class that leads it really is the "
        "most plausible one. Here it comes from the votes alone: every item has a Dirichlet "
        "distribution over the classes, which counts each vote once and one more for every "
        "class, and the chance is exact. Annotators count alike."
    ),
    "ambiguous": (
        "Bars show the mean share of each class, strongest colour first, under the same "
        "distribution; the grey piece is all classes not named. Entropy is that of the mean "
        "shares, in nats."
    ),
    "items": (
        "The influence of an item is, to first order, the change of the difference if that "
        "item were left out. A position is the share of items that the model scores lower. "
        "Look here first for wrong votes and for cases worth a second reading."
    ),
}
SHIFT = (
    "Resampling votes or readers makes majorities less clear than they were, so hard scores "
    "tend to shift, mostly for the worse. Soft labels move smoothly with the votes, so their "
    "scores usually shift little."
)
SHIFT_OF_DRAWS = (
    "A score is taken against the mean of the draws, a resample against one draw, which lies "
    "away from that mean: so scores can shift."
)
SHIFT_OF_ITEMS = (
    "Drawing items anew repeats some and leaves out others, so a score that is no average over "
    "items can shift."
)
MODELLED = {
    "annotators": "",
    "labels": (
        "The soft label of an item is the mean of the draws of the model: how plausible each "
        "class is. Hard labels keep only the class with more than half of that mean, or, for "
        "metrics of whole distributions, with most of it."
    ),
}
SCATTER = (
    "Scores of whole distributions are distances to the votes; redrawn votes scatter more than "
    "the votes themselves, so such scores can shift for the worse with soft labels too."
)
SEVERAL = {
    "annotators": (
        "Agreement is the share of the other votes on the same items that say the same. With "
        "several classes there is no single share of yes."
    ),
    "labels": (
        "The soft label of an item gives each class the share of votes it received, or what "
        "the chosen aggregation made of them; the figure shows the largest share. Hard labels "
        "keep only the class with "
    ),
}


def note_of(section: str, view: View) -> str:
    """Return the note of a section, in the words of the question that was asked."""
    modelled = any_model(view)
    if section == "forest":
        scatter = any(whole(metric) for metric in view.header["metrics"]) and not modelled
        drawn = "posterior" in str(view.header["settings"]["resample"])
        of_model = SHIFT_OF_DRAWS if drawn else SHIFT_OF_ITEMS
        why = of_model if modelled else SHIFT
        return f"{NOTES[section]}{why}{f' {SCATTER}' if scatter else ''}"
    if modelled and section in MODELLED:
        return MODELLED[section]
    if not any_several(view):
        return NOTES.get(section, "")
    said = SEVERAL.get(section) or NOTES.get(section, "")
    return f"{said}{_most_votes(view)}" if section == "labels" else said


def _most_votes(view: View) -> str:
    """End the note on labels: metrics of whole distributions have hard labels of their own."""
    metrics = view.header["metrics"]
    names = [str(metric["title"]) for metric in metrics if whole(metric)]
    if len(names) == len(metrics):
        return "most votes, shared by tied classes."
    if not names:
        return "more than half."
    return f"more than half; for {listing(names)} that with most, shared by tied classes."
