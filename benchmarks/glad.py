"""GLAD on yes/no votes of the size of three large questions: 506,000 votes, 933 annotators.

Peers: the same coordinate ascent in numpy, the published stochastic inference in Pyro (some of
its 10,000 steps, extrapolated), and the EM of crowd-kit on one question (one of its 100
iterations, extrapolated, times three questions). A peer that is not installed is left out and
said so. The kernel timed is equipoise.kernels.glad.
"""

import importlib.util
from importlib.metadata import version

import numpy as np

from benchmarks._clock import best, heading, line, once
from equipoise import Annotations
from equipoise.truth.ability import GladFit, glad

ITEMS, ANNOTATORS, VOTES = 49_731, 933, 506_000
BYTES = 2 * 24  # of a vote in a sweep: column, weight and half-weight with sign, both ways
PYRO_STEPS, CROWD_ITERATIONS, QUESTIONS = 200, 100, 3


def simulated(items, votes):
    """Votes of annotators of mean ability 1, a few of them worse than chance."""
    random = np.random.default_rng(0)
    b, c = random.normal(0, 3, items), random.normal(1, 0.7, ANNOTATORS)
    item, who = random.integers(0, items, votes), random.integers(0, ANNOTATORS, votes)
    yes = random.random(votes) < 1 / (1 + np.exp(-b[item] * c[who]))
    return Annotations(
        kind="binary",
        items=tuple(map(str, range(items))),
        classes=("no", "yes"),
        annotators=tuple(map(str, range(ANNOTATORS))),
        item=item,
        annotator=who,
        label=yes.astype(int),
    )


def half(own, other, kappa, moments, prior):
    """One half-sweep with bincount; moments are those of the own and of the other side."""
    (_, second), (other_first, other_second) = moments
    square = other_second[other]
    xi = np.sqrt(square * second[own])
    precision = prior[1] + np.bincount(own, np.tanh(xi / 2) / (2 * xi) * square, len(second))
    shift = prior[0] * prior[1] + np.bincount(own, kappa * other_first[other], len(second))
    mean = shift / precision
    return mean, mean**2 + 1 / precision


def plain(votes, sweeps):
    """Coordinate ascent in numpy, with the part of its bound that the votes make."""
    kappa = votes.label - 0.5
    items = (np.zeros(ITEMS), np.ones(ITEMS))
    people = (np.ones(ANNOTATORS), np.full(ANNOTATORS, 1.1))
    for _ in range(sweeps):
        items = half(votes.item, votes.annotator, kappa, (items, people), (0, 1 / 9))
        people = half(votes.annotator, votes.item, kappa, (people, items), (1, 1))
        xi = np.sqrt(items[1][votes.item] * people[1][votes.annotator])
        fit = kappa * items[0][votes.item] * people[0][votes.annotator]
        (fit - np.logaddexp(0.5 * xi, -0.5 * xi)).sum()


def installed(name, package):
    """Whether a peer is there; says so if not."""
    if importlib.util.find_spec(name) is None:
        print(f"   {package} is not installed: left out")
        return False
    return True


def pyro_steps(votes, steps):
    """Seconds of a few steps of the published inference (prior 'paper', Adam at 0.1)."""
    import pyro
    import torch
    from pyro.distributions import Bernoulli, Normal
    from pyro.infer import SVI, Trace_ELBO
    from pyro.infer.autoguide import AutoNormal

    item, who = torch.tensor(votes.item), torch.tensor(votes.annotator)
    answer = torch.tensor(votes.label, dtype=torch.float32)

    def model():
        with pyro.plate("annotators", ANNOTATORS):
            c = pyro.sample("c", Normal(0.0, 1.0))
        with pyro.plate("items", len(votes.items)):
            b = pyro.sample("b", Normal(0.0, 1000.0))
        with pyro.plate("votes", len(answer)):
            pyro.sample("y", Bernoulli(logits=c[who] * b[item]), obs=answer)

    pyro.clear_param_store()
    fit = SVI(model, AutoNormal(model), pyro.optim.Adam({"lr": 0.1}), Trace_ELBO())
    fit.step()
    taken = {}
    for threads in {1, torch.get_num_threads()}:  # whichever suits the peer better
        torch.set_num_threads(threads)
        taken[threads] = once(lambda: [fit.step() for _ in range(5)])
    torch.set_num_threads(min(taken, key=taken.get))
    return once(lambda: [fit.step() for _ in range(steps)])


def crowd_kit_iteration(votes):
    """Seconds of one iteration of EM, reading the votes included."""
    import pandas
    from crowdkit.aggregation import GLAD

    columns = {"task": votes.item, "worker": votes.annotator, "label": votes.label}
    table = pandas.DataFrame(columns)
    np.seterr(divide="ignore")  # the peer takes logarithms of zero
    return once(lambda: GLAD(n_iter=1, tol=0).fit(table))


def sweeps(votes, number):
    """Time sweeps against numpy, and against the memory that they read."""
    with_them, without = (
        best(lambda n=n: glad(votes, fit=GladFit(0, n))) for n in (number + 1, 1)
    )
    ours = with_them - without
    line(f"{number} sweeps", ours, best(lambda: plain(votes, number), times=1), "5")
    source = np.ones(VOTES * BYTES // 8)
    limit = number * best(source.sum)
    print(
        f"   limit: {BYTES} bytes read per vote and sweep, {limit:.3g} s for {number} sweeps;"
    )
    print(f"   we take {ours / limit:.1f} times that (two exponentials and a series per vote)")


def main():
    heading(f"GLAD, {VOTES:,} votes, peer numpy {np.__version__}")
    votes = simulated(ITEMS, VOTES)
    sweeps(votes, 20)
    taken = {}
    for prior in ("default", "paper"):
        taken[prior] = best(lambda p=prior: glad(votes, prior=p), times=2)
        count = glad(votes, prior=prior).diagnostics["iterations"]
        print(f"   prior {prior}, until it stands still: {taken[prior]:.2f} s, {count} sweeps")
    if installed("pyro", "pyro-ppl"):
        whole = pyro_steps(votes, PYRO_STEPS) * 10_000 / PYRO_STEPS
        for prior, ours in taken.items():
            name = f"prior {prior} against Pyro {version('pyro-ppl')}, {PYRO_STEPS} steps timed"
            line(name, ours, whole, "200")
    if installed("crowdkit", "crowd-kit"):
        question = simulated(ITEMS // QUESTIONS, VOTES // QUESTIONS)
        whole = crowd_kit_iteration(question) * CROWD_ITERATIONS * QUESTIONS
        for prior, ours in taken.items():
            name = f"prior {prior} against crowd-kit {version('crowd-kit')}, 1 iteration timed"
            line(name, ours, whole, "500")
    few = simulated(ITEMS // 10, VOTES // 10)
    fit = GladFit(draws=100, burn_in=100)
    seconds = once(lambda: glad(few, inference="gibbs", fit=fit))
    print(f"   Gibbs, {VOTES // 10:,} votes: {seconds * 5:.1f} s per 1,000 sweeps")


if __name__ == "__main__":
    main()
