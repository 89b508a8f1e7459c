"""The formulas of the uncertainty methods against values and slow twins from the definition."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from equipoise.types import InputError
from equipoise.uq.training.corruptions import label_aurocs
from equipoise.uq.training.data import Recipe, demo_images
from equipoise.uq.training.methods import METHODS, quick
from equipoise.uq.training.methods.attention import (
    GumbelAttention,
    HeadMasks,
    MaskedAttention,
    RandomAttention,
    gumbel_weights,
)
from equipoise.uq.training.methods.heads import BetaEdl, DeepEnsemble, beta_fit, beta_kl
from equipoise.uq.training.methods.method import (
    Clock,
    Network,
    label_bce,
    log_mean_sigmoid,
)
from equipoise.uq.training.methods.noise import HetNn, HetXl, HetXlModel, LastingDropout
from equipoise.uq.training.methods.post_hoc import (
    Ddu,
    DduModel,
    SpectralBound,
    SwagModel,
    diagonal_log_density,
    fit_temperature,
)
from equipoise.uq.training.networks import Attention, ImageShape, ResNet, ViT, architecture_of
from equipoise.uq.training.resident import Batch, DeviceData

SHAPE = ImageShape(1, 24, 24)
START = Clock(0, 10, 10)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


class Flat(Network):
    """The image itself is the feature."""

    def __init__(self, dim):
        super().__init__(torch.nn.Identity(), dim, SHAPE)


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize(
    ("name", "many", "dim"), [("resnet18", 11_177_422, 512), ("vit_tiny", 5_366_606, 192)]
)
def test_networks_have_the_stated_sizes(name, many, dim):
    network = architecture_of(name).network(ImageShape(1, 64, 64))
    assert network.dim == dim
    assert sum(one.numel() for one in network.parameters()) + 14 * (dim + 1) == many


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("architecture", [ResNet(width=4), ViT(dim=24, depth=2, patch=6)])
def test_features_have_their_length(architecture, channels):
    network = architecture.network(ImageShape(channels, 24, 24))
    assert network(torch.zeros(2, channels, 24, 24)).shape == (2, network.dim)


def test_divergence_of_beta_from_uniform():
    found = beta_kl(tensor(1, 2, 5), tensor(1, 1, 3))
    np.testing.assert_allclose(found, [0, math.log(2) - 0.5, 0.430151], atol=1e-6)
    beta = torch.distributions.Beta
    oracle = torch.distributions.kl_divergence(beta(7.5, 2.5), beta(1.0, 1.0))
    assert float(beta_kl(tensor(7.5), tensor(2.5))) == pytest.approx(float(oracle), abs=1e-5)


def test_fit_of_beta_is_the_expected_squared_error():
    assert float(beta_fit(tensor(3), tensor(2), tensor(1))) == pytest.approx(0.2)
    a, b, grid = 4.0, 1.5, np.linspace(0, 1, 200_001)[1:-1]
    density = grid ** (a - 1) * (1 - grid) ** (b - 1)
    oracle = np.sum(density * (grid - 1) ** 2) / np.sum(density)
    assert float(beta_fit(tensor(a), tensor(b), tensor(1))) == pytest.approx(oracle, abs=1e-4)
    mean = np.array([a, b]) / (a + b)  # a Dirichlet of two classes has both terms twice
    dirichlet = ((mean - [1, 0]) ** 2 + mean * (1 - mean) / (a + b + 1)).sum()
    assert 2 * float(beta_fit(tensor(a), tensor(b), tensor(1))) == pytest.approx(dirichlet)


@pytest.mark.parametrize(
    ("kl", "scale", "base", "mean"),
    [
        ("full", 1, 0, 0.429), ("full", 0.1, 0.03, 0.189), ("full", 0.001, 0.1, 0.1),
        ("other_evidence", 1, 0.03, 0.102), ("other_evidence", 0.1, 0.1, 0.088),
    ],
)  # fmt: skip
def test_optimum_of_the_evidential_loss(kl, scale, base, mean):
    method = BetaEdl(kl=kl, scale=scale, evidence="exp")
    output = torch.tensor([[0.0, 1.0]], requires_grad=True)
    search = torch.optim.LBFGS([output], max_iter=300, line_search_fn="strong_wolfe")
    late = Clock(1000, 1, 1000)

    def closure():
        search.zero_grad()
        parts = [
            method.loss(lambda _: output, Batch(output, y, torch.ones(1, 1)), late)
            for y in (torch.zeros(1, 1), torch.ones(1, 1))
        ]  # fmt: skip
        loss = (1 - base) * parts[0] + base * parts[1]
        loss.backward()
        return loss

    search.step(closure)
    a, b = method.parameters(output.detach())
    assert float(a / (a + b)) == pytest.approx(mean, abs=2e-3)


def test_temperature_is_the_minimum():
    logits, labels = torch.full((10, 1), 4.0), torch.tensor([[1.0]] * 9 + [[0.0]])
    found = float(fit_temperature(logits, labels, torch.ones(10, 1)))
    assert found == pytest.approx(4 / math.log(9), abs=1e-5)
    logits = 3 * torch.randn(500, 3)
    labels = (torch.rand(500, 3) < (logits / 2.5).sigmoid()).float()
    known = (torch.rand(500, 3) < 0.8).float()

    def cost(log_t):
        each = label_bce(logits / math.exp(log_t), labels) * known
        return float(each.sum(dtype=torch.float64))

    oracle = math.exp(minimize_scalar(cost, bounds=(-2, 3), method="bounded").x)
    assert float(fit_temperature(logits, labels, known)) == pytest.approx(oracle, abs=1e-3)
    each = fit_temperature(logits, labels, known, per_label=True)
    alone = fit_temperature(logits[:, :1], labels[:, :1], known[:, :1])
    assert float(each[0]) == pytest.approx(float(alone), abs=1e-6)


def test_temperature_leaves_the_order_of_entropies():
    logits = torch.randn(200, 2) * 2
    wrong = (torch.rand(200, 2) < 0.3).numpy().astype(float)

    def entropy(u):
        p = u.double().sigmoid()
        return -(p * p.log() + (1 - p) * (1 - p).log()).numpy()

    plain, scaled = (label_aurocs(entropy(u), wrong) for u in (logits, logits / 2.5))
    np.testing.assert_allclose(plain, scaled, atol=1e-12)


def test_mean_over_normal_noise_is_gauss_hermite():
    mean, spread = 0.7, 1.3
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    oracle = (weight / (1 + np.exp(-(mean + spread * node)))).sum() / weight.sum()
    output = torch.tensor([[mean, 2 * math.log(spread)], [0.0, 2 * math.log(spread)]])
    found = HetNn(samples=200_000).probability(lambda _: output, output)
    np.testing.assert_allclose(found[:, 0], [oracle, 0.5], atol=2e-3)


def test_equation_8_grows_with_noise_and_the_mean_does_not():
    noise = torch.randn(100_000, 1)
    spreads = (0.1, 0.5, 1.0, 2.0, 4.0)
    for mean, y in ((-1.0, 1.0), (0.5, 1.0), (2.0, 0.0), (-2.0, 0.0)):
        losses = [float(label_bce(mean + s * noise, torch.tensor(y)).mean()) for s in spreads]
        assert losses == sorted(losses)
    ours = [float(-log_mean_sigmoid(-1.0 + s * noise)) for s in spreads]  # wrong, y = 1
    assert ours == sorted(ours, reverse=True)


def test_log_mean_sigmoid_is_stable():
    far = torch.tensor([[-200.0], [-200.0]])
    assert float(log_mean_sigmoid(far)) == pytest.approx(-200)


def test_covariance_of_swag():
    model = SwagModel(Flat(3), 1, rank=4)
    path = torch.randn(7, 4)
    for weights in path:
        model.set_weights(weights)
        model.remember()
    running = torch.stack([path[: i + 1].mean(0) for i in range(7)])
    deviations = (path - running)[[4, 5, 6, 3]]
    torch.testing.assert_close(model.deviations, deviations)
    torch.testing.assert_close(model.mean, path.mean(0))
    expected = torch.diag(path.var(0, correction=0)) / 2 + deviations.T @ deviations / 2 / 3
    draws = torch.stack([model.draw() for _ in range(20_000)])
    torch.testing.assert_close(draws.T.cov(), expected, atol=0.05, rtol=0.05)
    torch.testing.assert_close(draws.mean(0), path.mean(0), atol=0.03, rtol=0)


def test_swag_takes_weights_in_four_times_an_epoch():
    method, seen = METHODS["swag"], []

    class Path:
        def remember(self):
            seen.append(step)

    for step in range(1, 21):
        method.observe(Path(), Clock(step, 10, 5))
    assert seen == [4, 6, 8, 10, 14, 16, 18, 20]


def test_covariance_of_het_xl():
    settings = HetXl(rank=2, temperature=1.5, members=40_000)
    model = HetXlModel(Flat(3), 2, settings)
    z = torch.randn(1, 3)
    mean, factors = model(z)
    weight = model.head.weight
    low_rank = model.factor(z).view(3, 2)
    scale = torch.nn.functional.softplus(model.scale(z))[0] + 1e-3
    oracle = weight @ (low_rank @ low_rank.T + torch.diag(scale**2)) @ weight.T / 1.5**2
    torch.testing.assert_close(factors[0] @ factors[0].T, oracle)
    torch.testing.assert_close(mean, model.head(z) / 1.5)

    class Here:
        def apply(self, function, images):
            with torch.no_grad():
                return function(images)

    drawn = settings.predict(model, z, Here()).logits[:, 0]
    torch.testing.assert_close(drawn.T.cov(), oracle.detach(), atol=0.03, rtol=0.05)
    shared = settings.outputs(model, z).detach()
    assert shared.shape == (1000, 1, 2)


@pytest.mark.parametrize("shape", [(2, 5), (2, 3, 5), (2, 5, 3, 3)])
def test_variance_of_dropout(shape):
    p, x = 0.3, torch.rand(shape)
    for filterwise in (False, True):
        drop = LastingDropout(p, filterwise=filterwise).eval()
        passes = torch.stack([drop(x) for _ in range(4000)])
        torch.testing.assert_close(passes.mean(0), x, atol=0.05, rtol=0)
        oracle = p / (1 - p) * x**2
        torch.testing.assert_close(passes.var(0), oracle, atol=0.05, rtol=0.1)
    kept = drop(torch.ones(shape)) > 0
    if len(shape) == 3:  # features of all tokens
        assert torch.equal(kept, kept[:, :1].expand(shape))
    if len(shape) == 4:  # whole channels
        assert torch.equal(kept, kept[:, :, :1, :1].expand(shape))


def test_dropout_follows_every_activation():
    for architecture, many in ((ResNet(width=4), 17), (ViT(dim=24, depth=2, patch=6), 2)):
        model = METHODS["mc_dropout"].build(lambda a=architecture: a.network(SHAPE), 2)
        assert sum(isinstance(one, LastingDropout) for one in model.modules()) == many


def test_no_portion_is_plain_attention():
    plain, x = Attention(24, 3), torch.randn(4, 9, 24)
    masked = HeadMasks(plain, MaskedAttention(p_block=1, p_head=1, p_token=1))
    masked.share = 0.0
    torch.testing.assert_close(masked(x), plain(x), atol=1e-6, rtol=0)
    masked.share = 1.0
    keep = masked._keep(500, x.device)
    assert torch.equal(keep.sum(1), torch.full((500,), 3.0))  # H / kept, times kept
    assert ((keep > 0).sum(1) == 1).all()  # at least one head, also at p = 1
    assert torch.isfinite(masked(x)).all()  # all tokens but the class token hidden


def test_masks_have_their_probabilities():
    masked = HeadMasks(Attention(24, 3), MaskedAttention(p_block=0.5, p_head=0.5))
    whole = (masked._keep(40_000, torch.device("cpu")) == 1).all(1).double().mean()
    assert float(whole) == pytest.approx(0.5 + 0.5 / 8, abs=0.01)
    method = MaskedAttention()
    assert [method.portion(t) for t in (0, 0.5, 1)] == pytest.approx([0, 0.5, 1])


def test_gumbel_frequencies_are_softmax():
    scores = torch.tensor([0.5, -1.0, 1.2]).expand(60_000, 3)
    for tau in (0.2, 1.0, 5.0):
        hard = gumbel_weights(scores, tau, hard=True)
        torch.testing.assert_close(hard.mean(0), scores[0].softmax(0), atol=0.01, rtol=0)
    soft = gumbel_weights(scores, 1e4)
    torch.testing.assert_close(soft, torch.full_like(soft, 1 / 3), atol=1e-2, rtol=0)


def test_gumbel_attention_without_noise_is_plain(monkeypatch):
    plain, x = Attention(24, 3), torch.randn(4, 9, 24)
    random = RandomAttention(plain, GumbelAttention())
    assert not torch.allclose(random(x), random(x))
    monkeypatch.setattr(torch.Tensor, "exponential_", lambda self: self.fill_(1.0))
    torch.testing.assert_close(random(x), plain(x), atol=1e-6, rtol=0)
    dual = RandomAttention(plain, GumbelAttention(centroids=2, hard=True))
    assert dual.centroids.shape == (8, 2)
    assert float(dual.centroids.detach().abs().max()) <= 0.5
    assert torch.isfinite(dual(x)).all()


def test_density_has_the_expected_entropy():
    mean, variance = torch.randn(1, 6).double(), torch.rand(1, 6).double() + 0.1
    drawn = mean + variance.sqrt() * torch.randn(40_000, 6).double()
    found = -diagonal_log_density(drawn, mean, variance).mean()
    oracle = 3 * (1 + math.log(2 * math.pi)) + 0.5 * variance.log().sum()
    assert float(found) == pytest.approx(float(oracle), abs=0.03)


def test_densities_of_ddu():
    model, many = DduModel(Flat(2), 2), 4000
    features = torch.randn(many, 2).double()
    labels = torch.zeros(many, 2)
    labels[: many // 4, 0] = 1
    features[: many // 4] += 4
    known = torch.ones(many, 2)
    features[-1], known[-1] = 1e6, 0.0  # a masked image has no part in a label's Gaussians
    model.fit_diagonal(features, labels, known, shrink=0.0)
    there, back = (torch.tensor([[x, x]]).double() for x in (4.0, 0.0))
    pos = model.log_density(torch.cat([there, back]), "per_label_pos")
    assert pos[0, 0] > pos[1, 0] + 5
    assert torch.isnan(pos[:, 1]).all()  # a label that is never present: undefined
    both = model.log_density(torch.cat([there, back]), "per_label_posneg")
    assert torch.isfinite(both).all()
    assert float(both[0, 0]) == pytest.approx(math.log(0.25) - math.log(2 * math.pi), abs=0.2)
    model.fit_global(features[:-1])
    density = model.log_density(features[:-1], "global")
    shrunk = (
        features[:-1].T.cov() * (1 - 2 / (many + 1))
        + torch.eye(2) * 2 / (many + 1) * features[:-1].var(0).mean()
    )
    oracle = torch.distributions.MultivariateNormal(features[:-1].mean(0), shrunk)
    torch.testing.assert_close(density[:, 0], oracle.log_prob(features[:-1]), atol=1e-6, rtol=0)


def test_spectral_norm_is_bounded():
    conv = torch.nn.Conv2d(2, 3, 3, 2, 1, bias=False)
    conv.weight.data *= 20
    bound = SpectralBound(conv, (6, 6), 3.0)
    for _ in range(200):
        weight = bound(conv.weight).detach()
    eye = torch.eye(2 * 36).view(-1, 2, 6, 6)
    operator = torch.nn.functional.conv2d(eye, weight, None, 2, 1).flatten(1)
    assert float(torch.linalg.matrix_norm(operator, 2)) == pytest.approx(3.0, abs=0.02)
    small = conv.weight.detach() / 1e4
    torch.testing.assert_close(bound.eval()(small), small)


def test_members_of_ensembles_are_never_shared():
    method = DeepEnsemble(members=5)
    seeds = [seed for s in range(50) for seed in method.baselines(ResNet(), s)]
    assert len(set(seeds)) == len(seeds)
    assert [METHODS["ddu"].baselines(one, 3) for one in (ResNet(), ViT())] == [(), (3,)]
    assert Ddu(spectral_norm=False).baselines(ResNet(), 3) == (3,)


@pytest.mark.parametrize("name", METHODS)
def test_masked_labels_have_no_part_in_a_loss(name):
    method = METHODS[name]
    architecture = (
        ViT(dim=24, depth=1, patch=12) if method.transformer_only else ResNet(width=2)
    )
    model = method.build(lambda: architecture.network(SHAPE), 3)
    images, known = torch.randn(4, *SHAPE), torch.tensor([[1.0, 1, 0]] * 3 + [[0, 0, 0]])
    results = []
    for masked in (0.0, 1.0, -7.0):
        labels = torch.where(known > 0, torch.tensor([[1.0, 0, 1]]), masked)
        model.zero_grad(set_to_none=True)
        torch.manual_seed(1)
        model.eval()  # the statistics of batches stand still
        loss = method.loss(model, Batch(images, labels, known), Clock(5, 10, 1))
        loss.backward()
        grads = [one.grad for one in model.parameters() if one.grad is not None]
        assert grads
        assert all(torch.isfinite(one).all() for one in grads)
        results.append([loss.detach(), *grads])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert torch.equal(a, b)
    nothing = method.loss(model, Batch(images, labels, torch.zeros(4, 3)), START)
    assert float(nothing.detach()) == 0.0


@pytest.mark.parametrize("name", METHODS)
def test_logits_keep_float32_in_mixed_precision(name):
    method = quick(METHODS[name])
    architecture = ViT(dim=24, depth=1, patch=12)
    data = DeviceData(demo_images(60), Recipe(), "cpu")
    model = method.build(lambda: architecture.network(SHAPE), 5).eval()
    images = data.val.images
    if name == "swag":
        model.remember()

    def predicted():
        torch.manual_seed(0)
        return next(one for one in method.predict(model, images, data) if one is not None)

    with torch.autocast("cpu", torch.bfloat16):
        mixed, rate = predicted(), method.probability(model, data.inputs(images)).detach()
    assert rate.dtype == torch.float32
    assert (rate != rate.bfloat16().float()).float().mean() > 0.5
    torch.testing.assert_close(mixed, predicted(), rtol=0, atol=0)
    assert (mixed != mixed.bfloat16().float()).float().mean() > 0.5


class Smooth(Flat):
    """A network with neither ReLU nor GELU, with two grouped convolutions and no batch norm."""

    def __init__(self):
        super().__init__(4)
        self.deep = torch.nn.Conv2d(1, 4, 3, 2)
        self.wide = torch.nn.Conv2d(4, 4, 3, 2, groups=2, dilation=2)

    def forward(self, images):
        return self.wide(torch.tanh(self.deep(images))).mean((2, 3))


@pytest.mark.parametrize("name", ["mc_dropout", "het_nn"])
def test_dropout_that_would_be_nowhere_is_refused(name):
    with pytest.raises(InputError, match="without a ReLU or GELU"):
        METHODS[name].build(Smooth, 2)


def test_ddu_bounds_what_it_trains_from_scratch():
    """It starts from a baseline for just those networks that it does not bound."""
    for make, architecture in (
        (Smooth, ResNet()),
        (lambda: ResNet(width=2).network(SHAPE), ResNet()),
        (lambda: ViT(dim=24, depth=1, patch=12).network(SHAPE), ViT()),
    ):
        for method in (Ddu(), Ddu(spectral_norm=False)):
            model = method.build(make, 2)
            bounded = any(isinstance(one, SpectralBound) for one in model.modules())
            assert bounded == (method.baselines(architecture, 3) == ())
            assert torch.isfinite(model(torch.randn(2, *SHAPE))).all()
    with pytest.raises(InputError, match="without convolutions"):
        Ddu().build(lambda: Flat(24), 2)
