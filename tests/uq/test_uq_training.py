"""Training of uncertainty methods: it learns, it is the same twice, and nothing stops it."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.cli.uq import _files
from equipoise.types import InputError
from equipoise.uq.training.corruptions import macro_auroc
from equipoise.uq.training.data import Recipe, demo_images
from equipoise.uq.training.grid import run_grid
from equipoise.uq.training.loop import Trainer, augmented
from equipoise.uq.training.methods import METHODS, quick
from equipoise.uq.training.networks import ResNet
from equipoise.uq.training.plan import (
    Machine,
    Plan,
    Setup,
    default_recipe,
    settings_of,
)
from equipoise.uq.training.resident import DeviceData, require_device, seeded

SOURCE = str(Path(__file__).parents[2] / "src")
QUICK = {"PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"}
RECIPE = Recipe(lr=5e-3, weight_decay=0.01, epochs=3, patience=2, batch=32, shift=1)
TINY = ResNet(width=2, blocks=1)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def data():
    torch.set_num_threads(1)
    return DeviceData(demo_images(240), Recipe(), "cpu")


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A file of few images, where nothing is to be learnt."""
    path = tmp_path_factory.mktemp("few") / "demo.npz"
    demo_images(120).save(path)
    return str(path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Every method on a transformer, and those that convolutions concern on a ResNet."""
    out = tmp_path_factory.mktemp("grid")
    demo_images(360).save(out / "demo.npz")
    recipe = default_recipe("demo", epochs=3, batch=24, shift=1)
    setup = Setup(source=str(out / "demo.npz"), small=True, recipe=recipe)
    plan = Plan(architectures=("vit_demo",), seeds=(0,))
    told: list[tuple[int, int]] = []
    first = run_grid(
        plan, setup, out / "grid", Machine(device="cpu"), lambda *both: told.append(both)
    )
    more = Plan(
        methods=("baseline", "swag", "mc_dropout", "ddu"), architectures=("resnet_demo",),
        seeds=(0,),
    )  # fmt: skip
    second = run_grid(more, setup, out / "grid", Machine(device="cpu"))
    failed = first.failed | second.failed
    both = replace(first, done=first.done + second.done, failed=failed)
    return both, plan, setup, told


def trained(data, *, recipe=RECIPE, seed=0, method="baseline", **how):
    chosen = quick(METHODS[method])
    with seeded(data.device, seed):
        model = chosen.build(lambda: TINY.network(data.shape), data.classes)
    result = Trainer(method=chosen, recipe=recipe, seed=seed, **how).train(model, data)
    return result, {name: value.clone() for name, value in model.state_dict().items()}


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def test_the_same_seed_gives_the_same_bytes_and_another_others(data):
    before = torch.random.get_rng_state()
    first, again, other = (trained(data, seed=s)[1] for s in (0, 0, 1))
    assert same(first, again)
    assert not same(first, other)
    assert torch.equal(before, torch.random.get_rng_state())  # the global stream is untouched


@pytest.mark.parametrize("method", ["baseline", "mc_dropout"])
def test_a_training_stopped_in_time_goes_on_to_the_same_end(data, tmp_path, method):
    _, whole = trained(data, method=method)
    path = tmp_path / "a.npz"
    stop = []

    class Deadline(float):
        def __lt__(self, other):  # time.time() > deadline
            return len(stop) >= 1

    def tell(epoch, _):
        stop.append(epoch)

    with pytest.raises(TimeoutError):
        trained(data, method=method, checkpoint=path, deadline=Deadline(0), tell=tell)
    assert len(stop) == 1
    result, resumed = trained(data, method=method, checkpoint=path)
    assert same(whole, resumed)
    assert result.epochs >= 2


def test_a_killed_training_goes_on_to_the_same_end(data, tmp_path):
    script = textwrap.dedent(
        """
        import os, signal, sys, torch
        torch.set_num_threads(1)
        from pathlib import Path
        from equipoise.uq.training.data import Recipe, demo_images
        from equipoise.uq.training.loop import Trainer
        from equipoise.uq.training.methods import METHODS
        from equipoise.uq.training.networks import ResNet
        from equipoise.uq.training.resident import DeviceData, seeded
        data = DeviceData(demo_images(240), Recipe(), "cpu")
        method = METHODS["mc_dropout"]
        with seeded(data.device, 0):
            model = method.build(lambda: ResNet(width=2, blocks=1).network(data.shape), 5)
        def tell(done, _):
            if done == 2:
                os.kill(os.getpid(), signal.SIGKILL)
        recipe = Recipe(lr=5e-3, weight_decay=0.01, epochs=3, patience=2, batch=32, shift=1)
        Trainer(method=method, recipe=recipe, seed=0, tell=tell,
                checkpoint=Path(sys.argv[1])).train(model, data)
        """
    )
    command = [sys.executable, "-c", script, str(tmp_path / "c.npz")]
    done = subprocess.run(command, env={**os.environ, **QUICK}, check=False)
    assert done.returncode == -9
    began = []
    _, resumed = trained(
        data,
        method="mc_dropout",
        checkpoint=tmp_path / "c.npz",
        tell=lambda *both: began.append(both),
    )
    assert began[0][0] == 3
    assert same(resumed, trained(data, method="mc_dropout")[1])


def test_a_checkpoint_of_another_configuration_is_refused(data, tmp_path):
    path = tmp_path / "a.npz"
    trained(data, checkpoint=path, fingerprint="one")
    with pytest.raises(InputError, match=r"another configuration \(one\).*remove the file"):
        trained(data, checkpoint=path, fingerprint="two")


def test_training_stops_when_validation_no_longer_rises(data):
    result, _ = trained(data, recipe=Recipe(lr=1e-12, epochs=9, patience=2, batch=64, shift=0))
    assert result.epochs < 9


def test_a_loss_that_is_no_number_is_refused(data):
    with pytest.raises(InputError, match="epoch 1: a loss of nan, expected a finite loss"):
        trained(data, recipe=Recipe(lr=1e30, epochs=2, batch=32, clip=1e30))


def test_augmentation_moves_and_mirrors():
    images = torch.arange(64, dtype=torch.uint8).view(1, 1, 8, 8).expand(40, 1, 8, 8)
    assert torch.equal(augmented(images, 0, flip=False), images)
    with seeded(images.device, 0):
        flipped, moved = augmented(images, 0, flip=True), augmented(images, 1, flip=False)
    mirror = (flipped == images.flip(3)).flatten(1).all(1)
    assert 5 < int(mirror.sum()) < 35
    assert ((flipped == images).flatten(1).all(1) | mirror).all()
    row = moved[:, 0, 4, 4] - images[:, 0, 4, 4].int()
    assert set(row.tolist()) == {8 * y + x for y in (-1, 0, 1) for x in (-1, 0, 1)}


def test_every_method_learns_the_demo_and_says_what_it_should(finished):
    outcome, plan, _, _ = finished
    assert outcome.failed == {}
    assert set(plan.cells()) < set(outcome.done)
    assert len(outcome.done) == 18
    with np.load(outcome.folder / "labels.npz") as file:
        truth = {name: file[name] for name in file.files}
    assert truth["ood_items"].tolist() == truth["test_items"].tolist()
    many, classes = truth["test_labels"].shape
    for cell in outcome.done:
        with np.load(outcome.folder / f"{cell.name}.npz") as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays["meta"]))
        assert (meta["schema"], meta["method"], meta["seed"]) == (1, cell.method, cell.seed)
        if cell.method == "beta_edl":
            a, b = arrays["test_alpha"], arrays["test_beta"]
            assert min(a.min(), b.min()) >= 1
            mean = a / (a + b)
        else:
            logits = arrays["test_logits"]
            assert logits.dtype == np.float16
            wanted = getattr(METHODS[cell.method], "members", 1)
            wanted = getattr(METHODS[cell.method], "heads", wanted)
            assert logits.shape == (wanted, many, classes)
            mean = (1 / (1 + np.exp(-logits.astype(float)))).mean(0)
            if wanted > 1:
                assert logits.astype(float).std(0).mean() > 0
        assert macro_auroc(mean, truth["test_labels"]) > 0.6, cell.name
        assert meta["score_is"] == ("EU" if cell.method == "ddu" else "own")
        own = cell.method in ("loss_prediction", "correctness_prediction", "ddu")
        assert ("test_score" in arrays) == own
        for part in ("val", "ood", "val_ood"):
            assert any(name.startswith(f"{part}_") for name in arrays)


def test_reused_baselines_are_those_of_the_grid(finished):
    outcome = finished[0]

    def run(name):
        with np.load(outcome.folder / f"{name}.npz") as file:
            return file["test_logits"].astype(float), json.loads(str(file["meta"]))

    base, facts = run("baseline.vit_demo.0")
    ensemble, cost = run("deep_ensemble.vit_demo.0")
    np.testing.assert_array_equal(ensemble[0], base[0])
    assert cost["baselines"] == [0, 1000, 2000, 3000, 4000]
    cost, facts = cost["cost"], facts["cost"]
    assert cost["training"] > facts["training"]
    assert cost["epochs"] >= facts["epochs"] + 4
    assert (cost["workers"], cost["memory"]) == (1, None)  # unknown on a CPU
    scaled, _ = run("temperature_scaling.vit_demo.0")
    ratio = base / np.where(scaled == 0, np.nan, scaled)
    assert np.nanstd(ratio) / np.nanmean(ratio) < 0.02  # one temperature for all
    assert list(outcome.folder.glob("weights/*.1000.npz")) == []  # members are tidied up


def test_corruptions_lower_the_auroc_as_asked(finished):
    told = json.loads((finished[0].folder / "corruptions.json").read_text())["corruptions"]
    assert len(told) == 8
    for one in told:
        reached = 1 - one["auroc"] / one["clean"]
        assert one["fall"] == pytest.approx(reached)
        assert one["reached"] or reached < 0.2
        assert reached == pytest.approx(0.2, abs=0.08) or not one["reached"]
    assert any(one["reached"] for one in told)
    with np.load(finished[0].folder / "baseline.vit_demo.0.npz") as file:
        assert json.loads(str(file["meta"]))["ood"] == {"drop": 0.2, "corruptions": told}
    with np.load(finished[0].folder / "labels.npz") as file:
        assert set(file["ood_corruptions"].tolist()) == {one["corruption"] for one in told}


def test_progress_is_told_to_the_end(finished):
    shares = [done / total for done, total in finished[3]]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1
    assert len(set(shares)) > 10


def test_a_finished_grid_is_left_alone_and_travels(finished, tmp_path):
    outcome, plan, setup, _ = finished
    for path in (*outcome.folder.glob("*.npz"), *outcome.folder.glob("*.json")):
        (tmp_path / "there").mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / "there" / path.name)
    again = run_grid(plan, setup, tmp_path / "there", Machine(device="cpu"))
    assert again.missing == ()
    assert not (tmp_path / "there" / "weights").exists()  # nothing was trained
    other = replace(setup, drop=0.3)
    with pytest.raises(InputError, match=r"another configuration \(drop was 0.2, is 0.3\)"):
        run_grid(plan, other, tmp_path / "there", Machine(device="cpu"))


def test_a_grid_stops_in_time_and_goes_on_with_several_workers(few, tmp_path):
    recipe = default_recipe("demo", epochs=1)
    setup = Setup(source=few, small=True, recipe=recipe)
    plan = Plan(methods=("baseline", "temperature_scaling"), architectures=("resnet_demo",),
                seeds=(0, 1))  # fmt: skip
    first = run_grid(plan, setup, tmp_path, Machine(device="cpu", minutes=1e-9))
    assert len(first.missing) == 4
    assert first.failed == {}
    second = run_grid(plan, setup, tmp_path, Machine(device="cpu", workers=2))
    assert second.missing == ()


@pytest.mark.parametrize("error", [RuntimeError, OSError, ValueError])
def test_a_cell_that_fails_stops_no_other(few, tmp_path, monkeypatch, error):
    def broken(*_):
        raise error("out of memory")

    monkeypatch.setattr(type(METHODS["beta_edl"]), "loss", broken)
    setup = Setup(source=few, small=True, recipe=default_recipe("demo", epochs=1))
    plan = Plan(methods=("baseline", "beta_edl"), architectures=("resnet_demo",), seeds=(0,))
    outcome = run_grid(plan, setup, tmp_path, Machine(device="cpu"))
    assert outcome.failed == {"beta_edl.resnet_demo.0": f"{error.__name__}: out of memory"}
    assert [cell.method for cell in outcome.done] == ["baseline"]


def test_a_file_that_was_cut_off_is_made_again(finished, tmp_path):
    outcome, _, setup, _ = finished
    plan = Plan(methods=("temperature_scaling",), architectures=("vit_demo",), seeds=(0,))
    there = tmp_path / "there"
    shutil.copytree(outcome.folder, there)
    path = there / "temperature_scaling.vit_demo.0.npz"
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], b""):
        path.write_bytes(broken)
        assert run_grid(plan, setup, there, Machine(device="cpu")).missing == ()
        with np.load(path) as file:
            assert "test_logits" in file.files
    (there / "grid.json").write_text('{"data": ')
    with pytest.raises(InputError, match=r"grid.json.*remove the file"):
        run_grid(plan, setup, there, Machine(device="cpu"))


def test_other_images_are_checked_before_training_and_known_by_their_content(tmp_path):
    small = Setup(source="demo", ood=str(tmp_path / "ood.npz"), small=True, recipe=RECIPE)
    plan = Plan(methods=("baseline",), architectures=("resnet_demo",), seeds=(0,))
    for other in (demo_images(120, size=28), colour(demo_images(120))):
        other.save(tmp_path / "ood.npz")
        with pytest.raises(InputError, match=r"expected images of 24 x 24 pixels, 1 channel"):
            run_grid(plan, small, tmp_path / "out", Machine(device="cpu"))
        assert not (tmp_path / "out").exists()
    demo_images(120, seed=1).save(tmp_path / "ood.npz")
    late = Machine(device="cpu", minutes=1e-9)
    run_grid(plan, small, tmp_path / "out", late)
    moved = replace(small, ood=str(tmp_path / "moved.npz"))
    (tmp_path / "ood.npz").rename(tmp_path / "moved.npz")
    run_grid(plan, moved, tmp_path / "out", late)
    demo_images(120, seed=2).save(tmp_path / "moved.npz")
    with pytest.raises(
        InputError, match=r"another configuration \(ood was \w{16}, is \w{16}\)"
    ):
        run_grid(plan, moved, tmp_path / "out", late)


def test_settings_of_methods_are_read_checked_and_part_of_a_run(few, tmp_path):
    texts = ["beta_edl.kl=full", "het_nn.samples=50", "gumbel_attention.tau2=2.5",
             "gumbel_attention.centroids=2", "ddu.spectral_norm=False",
             "mc_dropout.p=0"]  # fmt: skip
    setup = Setup(source="demo", small=True, settings=settings_of(texts))
    assert setup.method("beta_edl").kl == "full"
    assert setup.method("het_nn").samples == 50  # the others stay
    assert (setup.method("gumbel_attention").tau2, setup.method("ddu").spectral_norm) == (
        2.5,
        False,
    )
    plan = Plan(methods=("beta_edl",), architectures=("resnet_demo",), seeds=(0,))
    recipe = default_recipe("demo", epochs=1)
    setup = Setup(source=few, recipe=recipe, settings=settings_of(["beta_edl.kl=full"]))
    assert run_grid(plan, setup, tmp_path, Machine(device="cpu")).missing == ()
    with np.load(tmp_path / "beta_edl.resnet_demo.0.npz") as file:
        assert json.loads(str(file["meta"]))["settings"]["kl"] == "full"
    with pytest.raises(InputError, match=r"another configuration \(settings was .*full"):
        run_grid(plan, replace(setup, settings=()), tmp_path, Machine(device="cpu"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kl=full", "expected METHOD.FIELD=VALUE"),
        ("beta_edl.kl", "expected METHOD.FIELD=VALUE"),
        ("beta.kl=full", "expected one of baseline"),
        ("beta_edl.k=full", "did you mean 'kl'"),
        ("beta_edl.title=x", "expected one of evidence, kl"),
        ("baseline.p=1", "it has nothing to set"),
        ("beta_edl.kl=half", "beta_edl.kl: .*half"),
        ("mc_dropout.p=1", "a number between"),
        ("mc_dropout.members=2.5", "a whole number"),
        ("mc_dropout.members=0", "mc_dropout.members"),
        ("mc_dropout.filterwise=yes", "filterwise"),
        ("het_xl.temperature=nan", "a number above 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        settings_of([text])


def test_a_benchmark_judges_what_was_asked_for_and_names_the_rest(finished, capsys):
    outcome = finished[0]
    files = _files(outcome.folder, replace(outcome, done=outcome.done[:3]))
    assert {one.stem for one in files[:-1]} == {cell.name for cell in outcome.done[:3]}
    assert "also holds" in capsys.readouterr().err
    assert len(_files(outcome.folder, outcome)) == 19
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("option", "message"),
    [(("--with", "beta_edl.k=1"), "did you mean 'kl'"), (("--minutes", "-1"), "minutes: -1")],
)
def test_the_command_refuses_before_training(tmp_path, option, message):
    out = str(tmp_path / "out")
    done = CliRunner().invoke(app, ["uq", "benchmark", "--data", "demo", "--out", out, *option])
    assert message in str(done.exception)
    assert not (tmp_path / "out").exists()


def colour(data):
    return replace(data, images=np.repeat(data.images, 3, 3))


@pytest.mark.parametrize("how", [{"minutes": -1}, {"minutes": 0}, {"workers": -1}])
def test_a_machine_that_cannot_be_is_refused(how):
    with pytest.raises(InputError, match=next(iter(how))):
        Machine(**how)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": ("swg",)}, "did you mean 'swag'"),
        ({"architectures": ("resnet",)}, "expected one of resnet18, vit_tiny"),
        ({"methods": ("masked_attention",), "architectures": ("resnet18",)}, "add vit_tiny"),
        ({"methods": ("baseline",), "architectures": ("timm:resnet50",)}, "pip install timm"),
        ({"architectures": ("vit_tiny",)}, None),
    ],
)
def test_what_does_not_fit_is_refused_before_training(change, message, monkeypatch):
    monkeypatch.setattr("equipoise.uq.training.networks.find_spec", lambda _: None)
    if message is None:
        Plan(**change).check(demo_images(60))  # 24 pixels are three patches of 8
        return
    with pytest.raises(InputError, match=message):
        Plan(**change).check(demo_images(60))


def test_a_method_that_does_not_fit_a_network_of_timm_is_refused_before_training(monkeypatch):
    class Body(torch.nn.Flatten):
        num_features = 24 * 24

    def make(*_, pretrained, **__):
        assert not pretrained  # nothing is fetched to find out
        return Body()

    timm = SimpleNamespace(create_model=make)
    monkeypatch.setattr("equipoise.uq.training.networks.find_spec", lambda _: timm)
    monkeypatch.setattr("equipoise.uq.training.networks.import_module", lambda _: timm)
    Plan(methods=("baseline",), architectures=("timm:x",)).check(demo_images(60))
    for name in ("mc_dropout", "ddu"):
        with pytest.raises(InputError, match="a network without"):
            Plan(methods=(name,), architectures=("timm:x",)).check(demo_images(60))


def test_a_gpu_that_is_not_there_is_refused(tmp_path):
    if torch.cuda.is_available():
        pytest.skip("a GPU is there")
    with pytest.raises(InputError, match="which is not there, expected one of cpu"):
        require_device("cuda")
    unread = Setup(source=str(tmp_path / "missing.npz"))
    with pytest.raises(InputError, match="a CUDA build of torch"):
        run_grid(Plan(), unread, tmp_path / "x", Machine(device="cuda"))
    assert not (tmp_path / "x").exists()


def test_training_needs_numpy_and_torch_only(few, tmp_path):
    script = textwrap.dedent(
        """
        import sys
        for name in ("numba", "scipy", "pyarrow", "typer", "rich", "sklearn", "narwhals",
                     "pooch", "pandas", "joblib", "PIL"):
            sys.modules[name] = None
        import torch
        torch.set_num_threads(1)
        from pathlib import Path
        from equipoise.uq.training.grid import run_grid
        from equipoise.uq.training.plan import Machine, Plan, Setup, default_recipe
        plan = Plan(methods=("baseline",), architectures=("resnet_demo",), seeds=(0,))
        setup = Setup(source=sys.argv[2], recipe=default_recipe("demo", epochs=1))
        done = run_grid(plan, setup, Path(sys.argv[1]), Machine(device="cpu"))
        assert done.failed == {} and len(done.done) == 1, done
        """
    )
    command = [sys.executable, "-c", script, str(tmp_path / "out"), few]
    done = subprocess.run(
        command, env={**os.environ, **QUICK}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "baseline.resnet_demo.0.npz").exists()
