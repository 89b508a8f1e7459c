"""Rank stability of the CheXpert leaderboard: 10 models, 5 findings, 4 metrics, every kind.

1,000 replicates of each of five kinds of resampling, hard and soft labels, on all cores, after
a warm-up. Goal: 10 s on two cores. Says where the time goes: per kind, drawing and scoring on
its own (the kernels are those of equipoise.kernels.resampling and equipoise.kernels.ranking),
and ranks with their correlations. Peer: scipy's spearmanr and kendalltau, replicate by
replicate, for the ranks; the limit of scoring is one pass over items, replicates and models.
Then everything that `equipoise stability` looks at, analysis by analysis, with its page.
"""

import os

import numpy as np
import scipy
from scipy.stats import kendalltau, spearmanr

from benchmarks._clock import best, heading, line, once
from equipoise.datasets.chexpert import load_chexpert
from equipoise.inference.ranks import beats, kendall_tau_b, rank_probabilities, spearman
from equipoise.inference.resampling import resample
from equipoise.report.answer import analyse_study
from equipoise.report.page import report_files
from equipoise.study import Settings, Study, evaluate
from equipoise.study.analyses.catalogue import ANALYSES
from equipoise.study.analyses.ranking import rank_stability
from equipoise.types import InputError

USUAL = 1000  # resamples
METRICS = ("auroc", "average_precision", "precision_at_100", "recall_at_100")
FEW = 20  # replicates that the peer is timed on


def peer_seconds(values, drawn):
    """Both correlations by scipy, for a few replicates, scaled to all."""

    def loop():
        for cell in np.ndindex(values.shape[:-1]):
            for replicate in range(FEW):
                spearmanr(values[cell], drawn[cell][:, replicate])
                kendalltau(values[cell], drawn[cell][:, replicate])

    return once(loop) / FEW * drawn.shape[-1]


def correlations(values, drawn):
    first, second = np.moveaxis(values, -1, 0)[..., None], np.moveaxis(drawn, -2, 0)
    spearman(first, second)
    kendall_tau_b(first, second)


def distributions(drawn):
    for cell in np.ndindex(drawn.shape[:-2]):
        rank_probabilities(drawn[cell])
        beats(drawn[cell])


def analysed(study, only=()):
    """The report of a study, made anew, with 1,000 resamples."""
    how = Settings(replicates=1000)
    return analyse_study(Study.of(*study, metrics=METRICS, settings=how), only=only)


def every_analysis(study):
    """All that the command does, with four metrics: each analysis by itself, and the page."""
    spent = {}
    for name in ANALYSES:
        if name == "subgroups":
            continue  # needs attributes of items
        try:
            seconds = best(lambda name=name: analysed(study, only=(name,)))
        except InputError as error:
            print(f"   {name}: not for these data ({error})")
            continue
        spent[name] = seconds
    whole = best(lambda: analysed(study))
    report = analysed(study)
    page = best(lambda: report_files(report))
    print(
        f"   all analyses {whole:.2f} s (goal 10 s), then page, figures and tables {page:.2f} s"
    )
    parts = sorted(spent.items(), key=lambda one: -one[1])
    print("   alone, with reading the scores: " + ", ".join(f"{n} {s:.2f} s" for n, s in parts))


def main():
    study = load_chexpert()
    cores = os.cpu_count()
    heading(f"rank stability, CheXpert, {cores} cores, peer scipy {scipy.__version__}")

    def everything():
        plan = resample(study.annotations, replicates=USUAL, seed=0)
        rank_stability(
            evaluate(study.predictions, study.annotations, metrics=METRICS, resampling=plan)
        )

    whole = best(everything)
    kinds = ("items", "votes", "panel", "items x votes", "items x panel")
    print(f"   {USUAL:,} replicates: {whole:.2f} s (goal 2 s)")
    spent, done = 0.0, None
    for kind in kinds:

        def one(kind=kind):
            plan = resample(study.annotations, kind, replicates=USUAL, seed=0)
            return evaluate(
                study.predictions, study.annotations, metrics=METRICS, resampling=plan
            )

        seconds = best(one)
        spent += seconds
        done = one()
        cells = 2 * 5 * 500 * len(done.models) * USUAL
        print(
            f"   drawing and scoring, {kind}: {seconds:.3f} s, "
            f"{cells / seconds / 1e9:.2f} thousand million items scored per second"
        )
    drawn = done.replicates
    ranks = best(lambda: correlations(done.values, drawn))
    line("correlations of one kind", ranks, peer_seconds(done.values, drawn))
    wins = best(lambda: distributions(drawn))
    print(
        f"   in all, each part alone: drawing and scoring {spent:.2f} s, correlations "
        f"{ranks * len(kinds):.2f} s, rank distributions and wins {wins * len(kinds):.2f} s"
    )
    every_analysis((study.predictions, study.annotations))


if __name__ == "__main__":
    main()
