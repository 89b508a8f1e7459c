"""Simulated studies of six classes: readers with leanings, and a model that is rather good."""

import numpy as np

from equipoise.types import Annotations, Predictions

CLASSES = tuple("abcdef")


def softmax(logits):
    """Probabilities of logits."""
    power = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return power / power.sum(axis=-1, keepdims=True)


class World:
    """Items, readers and a model.

    Every item has six utilities, of which the model sees a noisy version; a reader has leanings
    of his own. Items may come in groups that share a part, and each be read by `per_item` of
    the readers.
    """

    def __init__(self, readers, *, per_item=0, group=0, leaning=0.6):
        self.readers, self.per_item = readers, per_item or readers
        self.group, self.leaning = group, leaning

    def items(self, random, number):
        """Utilities, and probabilities of the model, both (items, classes)."""
        truth = random.normal(0, 1.3, (number, 6))
        if self.group:
            shared = random.normal(0, 1, (-(-number // self.group), 6))
            truth = truth + np.repeat(shared, self.group, axis=0)[:number]
        return 1.6 * truth, softmax(1.6 * (truth + random.normal(0, 0.8, truth.shape)))

    def study(self, seed, number=300):
        """Votes and the model's predictions."""
        random = np.random.default_rng(seed)
        truth, chance = self.items(random, number)
        lean = random.normal(0, self.leaning, (self.readers, 6))
        who = np.stack(
            [
                random.permutation(self.readers)[: self.per_item]
                if self.per_item < self.readers
                else np.arange(self.readers)
                for _ in range(number)
            ]
        )
        share = softmax(truth[:, None] + lean[who])
        label = (share.cumsum(axis=-1) > random.random((*who.shape, 1))).argmax(axis=-1)
        items = tuple(f"i{k:05}" for k in range(number))
        grouped = {}
        if self.group:
            codes = np.arange(number) // self.group
            grouped = {"group": codes, "groups": tuple(f"p{g}" for g in range(codes.max() + 1))}
        votes = Annotations(
            kind="nominal",
            items=items,
            classes=CLASSES,
            annotators=tuple(f"r{r:02}" for r in range(self.readers)),
            item=np.repeat(np.arange(number), self.per_item),
            annotator=who.ravel(),
            label=label.ravel(),
            **grouped,
        )
        return votes, Predictions("net", items, chance, CLASSES)

    def population(self, number=4000, readers=200):
        """The model's probabilities and what new readers say of new items."""
        random = np.random.default_rng(99)
        truth, chance = self.items(random, number)
        lean = random.normal(0, self.leaning, (readers, 6))
        said = sum(softmax(truth + of_reader) for of_reader in lean) / readers
        return chance, said

    def outcomes(self, studies, rules, number=300):
        """Coverage and size of every rule in so many studies, (rules, studies, 2)."""
        from equipoise.sets.rules import SetSample
        from equipoise.study.study import Study

        chance, said = self.population()
        rows = []
        for seed in range(studies):
            votes, model = self.study(seed, number)
            sample = SetSample.of(Study.of(model, votes, metrics=["brier_score"]))
            thresholds = [
                sample.rule(0, "net", how, hard=hard).threshold for how, hard in rules
            ]
            held = [chance >= threshold for threshold in thresholds]
            rows.append([((said * h).sum(axis=1).mean(), h.sum(axis=1).mean()) for h in held])
        return np.swapaxes(np.array(rows), 0, 1)
