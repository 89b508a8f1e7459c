"""What the columns of a table of stability mean, in a line under it."""

ORDER = "rank correlation with the original order (1: the same, 0: no relation, -1: reversed)"
BRACKETS = "Brackets: interval when items are drawn anew."
LEGENDS = {
    "ranking": (
        f"Spearman, Kendall's tau-b: mean {ORDER}. Brackets: the middle of the redraws. Shares "
        "in brackets: of the redraws of that kind. Joint redraws (x) err on the wide side."
    ),
    "flips": (
        "Fewest items or votes to leave out, or votes to change, for the model named to come "
        "first; ≤: a smaller set may exist."
    ),
    "leave_one_out": (
        f"Largest shift: of any model's value. Spearman: {ORDER}. Kappa of labels: Cohen's "
        "kappa of the majority's labels with those of all annotators (1: the same, 0: chance). "
        f"{BRACKETS}"
    ),
    "vote_cutoffs": f"Largest change: of any model's value. Spearman: {ORDER}. {BRACKETS}",
    "panel_size": (
        "Spearman of separate panels: mean rank correlation between the orders by two panels "
        "without a common member. Spearman with all: with the order by the whole panel, of "
        "which the smaller ones are a part, so that it is too high. Half-width: of a value's "
        "interval, as far as the panel makes it; the widest."
    ),
    "experts": (
        "Minus expert: the model's value minus an expert's, on average. Against one expert: "
        "with the labels of a held-out expert instead of the mean of several. Beats a "
        "colleague: chance to agree with an expert better than another expert does. Worth: how "
        "many experts have together the model's value against one expert, and its interval; "
        "(?): not shown to be more than one expert. "
        f"{BRACKETS}"
    ),
    "critical_difference": (
        "Average rank: over tasks, 1 is best. Not apart from: models whose average rank is "
        f"nearer than the critical difference. {BRACKETS}"
    ),
    "choices": (
        "Best in: share of redrawn items in which that model is best, ties shared. Rank "
        "correlation: Spearman's, of the order of the models under both aggregations. "
        f"{BRACKETS}"
    ),
    "components": (
        "Standard deviation: of the result by that source alone; the noise of votes is taken "
        "off items and annotators and counted once. Shares are of the variance and add up to "
        "the total; model choice is beside it."
    ),
    "subgroups": (
        "Entropy: disagreement of the votes (0: unanimous). Agreement: Krippendorff's alpha "
        f"(1: complete, 0: chance). Adjusted p: Holm's, for many comparisons. {BRACKETS}"
    ),
    "threshold_sweep": (
        "Share of yes: of the votes that an item needs to be positive; a range where all in "
        "it give the same labels. Spearman: rank "
        "correlation with the order when more than half is needed."
    ),
    "certainty": (
        "Certainty: chance that the leading class is the most plausible one. Spearman with "
        f"all: rank correlation with the order on all items. {BRACKETS}"
    ),
}
