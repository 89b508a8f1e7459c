"""What a method of uncertainty is: a frozen record of its hyper-parameters that can

- ``build`` a model around a network,
- give the ``loss`` of a batch, in which masked labels (uncertain, blank) have no part,
- ``predict``: members (logits of probabilities), or Beta parameters, and perhaps its own score.

Notation: feature z = f(x), logits u = Wz + b, BCE(u, y) = softplus(u) - yu, known labels
w in {0, 1}; the plain loss is sum_c w_c BCE_c / sum w over the batch.

A method that starts from trained baselines names their seeds in ``baselines``; one that only
fits something after training does so in ``settle``.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from equipoise.types import immutable
from equipoise.uq.training.networks import Architecture, Network
from equipoise.uq.training.resident import Batch, DeviceData

MEMBERS = 5  # of every method by default, so that none is favoured (the paper's M)
MakeNetwork = Callable[[], Network]
State = Mapping[str, Tensor]


class Clock(NamedTuple):
    """How far a training is."""

    step: int
    steps_per_epoch: int
    epochs: int

    @property
    def epoch(self) -> float:
        """Epochs done, with their fraction."""
        return self.step / self.steps_per_epoch

    @property
    def share(self) -> float:
        """Share of the longest possible training that is done."""
        return min(1.0, self.epoch / self.epochs)


class Forecast(NamedTuple):
    """What a method predicts for images; either members or Beta parameters.

    Attributes
    ----------
    logits
        (members, items, classes): the logit of each member's probability.
    alpha, beta
        (items, classes): a Beta distribution per label.
    score
        (items, classes): the method's own uncertainty, higher is less certain.
    """

    logits: Tensor | None = None
    alpha: Tensor | None = None
    beta: Tensor | None = None
    score: Tensor | None = None


class Classifier(nn.Module):
    """A network with a linear head, which is float32 also where the network is not.

    Its logits are divided by a temperature, which is 1 until it is fitted. Where there is a
    `side` head, its outputs stand beside the logits, (items, 2, classes).
    """

    def __init__(self, network: Network, outputs: int, *, temperatures: int = 1) -> None:
        super().__init__()
        self.network = network
        self.head = nn.Linear(network.dim, outputs)
        self.side: nn.Module | None = None
        self.register_buffer("temperature", torch.ones(temperatures))

    def forward(self, images: Tensor) -> Tensor:
        """Logits of images."""
        return self.outputs(self.network(images))

    def outputs(self, features: Tensor) -> Tensor:
        """Logits of features."""
        logits = in_float32(self.head, features) / self.temperature
        if self.side is None:
            return logits
        return torch.stack([logits, in_float32(self.side, features)], 1)


def full_precision(tensor: Tensor) -> AbstractContextManager[None]:
    """No mixed precision on the device of a tensor."""
    return torch.autocast(tensor.device.type, enabled=False)


def in_float32(head: nn.Module, features: Tensor) -> Tensor:
    """What a head makes of features, in float32 whatever the precision around it.

    Logits of bfloat16 would have eight bits: few distinct probabilities, and ties everywhere.
    """
    with full_precision(features):
        return head(features.float())


@immutable(kw_only=True)
class Method:
    """The baseline, a linear head, which every method changes where it differs."""

    title: ClassVar[str] = "Baseline (BCE)"
    transformer_only: ClassVar[bool] = False
    further_epochs: ClassVar[int] = 0  # after the baseline, at a constant learning rate
    score_is: ClassVar[Literal["EU", "own"]] = "own"  # what a score of its own stands for
    from_baseline: ClassVar[bool] = False  # whether it starts from that of the same seed
    sampled: ClassVar[bool] = False  # whether the model gives several logits of a label
    members = 1  # passes of `predict`; a field where a method has several

    def baselines(self, architecture: Architecture, seed: int) -> tuple[int, ...]:
        """Seeds of the trained baselines that the method starts from; none from scratch."""
        del architecture
        return (seed,) if self.from_baseline else ()

    def build(self, make: MakeNetwork, classes: int) -> nn.Module:
        """A new model."""
        return Classifier(make(), classes)

    def start(self, model: nn.Module, states: Sequence[State]) -> None:
        """Take over the weights of the trained baselines."""
        load_baseline(model, states[0])

    def loss(self, model: nn.Module, batch: Batch, clock: Clock) -> Tensor:
        """Cross-entropy of a batch, that of the mean probability over samples."""
        del clock
        outputs = self.outputs(model, batch.images)
        return mean_bce(outputs, batch) if self.sampled else masked_bce(outputs, batch)

    def observe(self, model: nn.Module, clock: Clock) -> None:
        """Look at the model after a step of training."""

    def settle(self, model: nn.Module, data: DeviceData) -> None:
        """Fit what is fitted after training."""

    def outputs(self, model: nn.Module, images: Tensor) -> Tensor:
        """Logits of one pass (items, classes), or of several samples, of inputs."""
        return model(images)

    def logits(self, model: nn.Module, images: Tensor) -> Tensor:
        """The mean prediction of one pass (items, classes) for a batch of inputs."""
        outputs = self.outputs(model, images)
        if not self.sampled:
            return outputs
        samples = outputs.float()
        return log_mean_sigmoid(samples) - log_mean_sigmoid(-samples)

    def probability(self, model: nn.Module, images: Tensor) -> Tensor:
        """The same as a probability, for early stopping."""
        return self.logits(model, images).float().sigmoid()

    def predict(self, model: nn.Module, images: Tensor, data: DeviceData) -> Forecast:
        """Predictions for 8-bit images: passes as members."""
        one_pass = partial(self.logits, model)
        return Forecast(
            logits=torch.stack([data.apply(one_pass, images) for _ in range(self.members)])
        )


def load_baseline(model: nn.Module, state: State) -> None:
    """Load the weights of a baseline; only what a method adds may be missing."""
    untrained = {name for name, _ in model.named_parameters()} - set(state)
    missing, unexpected = model.load_state_dict(dict(state), strict=False)
    if untrained or unexpected:
        message = f"weights do not fit: missing {sorted(missing)}, unexpected {unexpected}"
        raise RuntimeError(message)


def masked_mean(values: Tensor, known: Tensor) -> Tensor:
    """Mean over the known labels of a batch; 0 if none is known.

    Examples
    --------
    >>> float(masked_mean(torch.tensor([[3.0, 9.0]]), torch.tensor([[1.0, 0.0]])))
    3.0
    """
    return (values * known).sum() / known.sum().clamp(min=1)


def masked_bce(logits: Tensor, batch: Batch) -> Tensor:
    """The plain loss: binary cross-entropy over the known labels."""
    return masked_mean(label_bce(logits, batch.labels), batch.known)


def label_bce(logits: Tensor, labels: Tensor) -> Tensor:
    """Binary cross-entropy of every label, softplus(u) - yu."""
    logits = logits.float()
    return functional.softplus(logits) - labels * logits


def mean_bce(logits: Tensor, batch: Batch) -> Tensor:
    """Loss of the mean probability of samples (samples, items, classes).

    The logarithms of the mean probability and of its complement are taken in log space, which
    needs no small constant beside the probability.
    """
    yes, no = (log_mean_sigmoid(signed) for signed in (logits.float(), -logits.float()))
    return masked_mean(-(batch.labels * yes + (1 - batch.labels) * no), batch.known)


def log_mean_sigmoid(logits: Tensor) -> Tensor:
    """The logarithm of the mean sigmoid over the first axis.

    Examples
    --------
    >>> round(float(log_mean_sigmoid(torch.zeros(4, 1)).exp()), 6)
    0.5
    """
    count = torch.tensor(float(len(logits)), device=logits.device)
    return functional.logsigmoid(logits).logsumexp(0) - count.log()
