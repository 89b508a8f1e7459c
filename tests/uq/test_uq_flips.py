"""A flipped bit in the folder of a benchmark is noticed: no value changes without a word."""

import json
import shutil
from collections import Counter

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from equipoise.cli import app
from equipoise.types import InputError
from equipoise.uq.predictions import find_files, read_study
from equipoise.uq.training.grid import run_grid
from equipoise.uq.training.loop import Bench, read_whole, write_whole
from equipoise.uq.training.plan import Cell, Folder, Machine, Plan, Setup, default_recipe

FLIPS = 200
CPU = Machine(device="cpu", workers=1)
PLAN = Plan(
    methods=("baseline", "temperature_scaling"), architectures=("resnet_demo",), seeds=(0,)
)
SETUP = Setup(source="demo", small=True, recipe=default_recipe("demo", epochs=1))
CELL = Cell("baseline", "resnet_demo", 0)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small benchmark with a checkpoint, as a training that was killed leaves one."""
    torch.set_num_threads(1)
    out = tmp_path_factory.mktemp("flips") / "grid"
    assert run_grid(PLAN, SETUP, out, CPU).missing == ()
    folder = Folder(out)
    content = {"course": {"epochs": 1}, "model": {"weight": torch.arange(50.0)}}
    write_whole(folder.checkpoint(CELL), "abc", content)
    return out


def state(saved):
    """What was loaded, as text that shows every bit."""
    if isinstance(saved, dict):
        return {name: state(value) for name, value in saved.items() if name != "content"}
    return saved.numpy().tobytes() if isinstance(saved, torch.Tensor) else saved


def read(out, path):
    """What is opened of a file: in evaluation, and when the grid goes on."""
    folder, place = Folder(out), path.relative_to(out).parts[0]
    if place == "checkpoints":
        return state(read_whole(folder.checkpoint(CELL), "abc", torch.device("cpu")))
    bench = Bench(PLAN, SETUP, folder, CPU, SETUP.read(folder))
    bench.folder.claim(bench.configuration)
    if place in ("data", "grid.json"):
        return bench.configuration
    if place == "weights":
        return state(bench._load(CELL)[1])
    if place == "corruptions.json":
        return bench._strange_facts()
    study = read_study(find_files(out))
    done = [bench.is_done(cell) for cell in PLAN.cells()]
    if not all(done):
        (reason,) = bench.renewed.values()
        raise InputError("cell", reason, "a whole file", "it is made anew")
    labels = {part: (held.items, held.labels.tobytes()) for part, held in study.labels.items()}
    means = [outputs.mean.tobytes() for run in study.runs for outputs in run.parts.values()]
    return study.classes, labels, means, study.corruptions


def test_no_flipped_bit_changes_a_value_without_a_word(whole):
    paths = sorted(path for path in whole.rglob("*.*") if path.is_file())
    places = {path.relative_to(whole).parts[0] for path in paths}
    assert {"weights", "checkpoints", "data", "grid.json", "labels.npz"} < places
    random, before = np.random.default_rng(0), {path: read(whole, path) for path in paths}
    met = Counter()
    for flip in range(FLIPS):
        path = paths[flip % len(paths)]
        held = path.read_bytes()
        changed, bit = bytearray(held), int(random.integers(8 * len(held)))
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            assert read(whole, path) == before[path], (path.name, bit)
            met["nothing that counts"] += 1
        except InputError as error:
            assert error.do
            met["refused"] += 1
        finally:
            path.write_bytes(held)
    assert met["refused"] > 0.9 * FLIPS, met


def test_a_changed_value_under_an_old_seal_is_noticed(whole, tmp_path):
    """The checksums of the container fit; the seal does not."""
    shutil.copytree(whole, tmp_path / "grid")
    for name in ("baseline.resnet_demo.0.npz", "labels.npz"):
        path = tmp_path / "grid" / name
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files}
        key = "test_labels" if name == "labels.npz" else "test_logits"
        arrays[key] = np.where(np.isnan(arrays[key]), 0, arrays[key] * 0).astype(
            arrays[key].dtype
        )
        np.savez(path, **arrays)
        with pytest.raises(InputError, match=rf"{name}: changed since it was written"):
            read_study(find_files(tmp_path / "grid"))
        shutil.copy(whole / name, path)


def test_weights_and_checkpoints_that_changed_under_an_old_seal_are_refused(whole, tmp_path):
    """Torch itself reads changed weights without a word."""
    shutil.copytree(whole, tmp_path / "grid")
    folder = Folder(tmp_path / "grid")
    for path in (folder.weights(CELL), folder.checkpoint(CELL)):
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files}
        fingerprint = json.loads(str(arrays["meta"]))["fingerprint"]
        read_whole(path, fingerprint, torch.device("cpu"))
        arrays["torch"][len(arrays["torch"]) // 2] ^= 1
        np.savez(path, **arrays)
        with pytest.raises(InputError, match="changed since it was written"):
            read_whole(path, fingerprint, torch.device("cpu"))


def test_a_damaged_cell_is_made_anew_with_a_sentence(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "grid")
    path = tmp_path / "grid" / "temperature_scaling.resnet_demo.0.npz"
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 4
    path.write_bytes(held)
    words = ["uq", "benchmark", "--data", "demo", "--methods", "baseline,temperature_scaling",
             "--archs", "resnet_demo", "--seeds", "1", "--epochs", "1", "--device", "cpu",
             "--workers", "1", "--out", str(tmp_path / "grid")]  # fmt: skip
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "temperature_scaling.resnet_demo.0.npz" in done.output
    assert "It was made anew." in done.output
    with np.load(path) as made, np.load(whole / path.name) as old:
        for name in set(old.files) - {"meta"}:
            assert made[name].tobytes() == old[name].tobytes()


def test_damaged_weights_are_refused_and_not_used(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "grid")
    folder = Folder(tmp_path / "grid")
    held = bytearray(folder.weights(CELL).read_bytes())
    held[len(held) // 2] ^= 1
    folder.weights(CELL).write_bytes(held)
    folder.run(PLAN.cells()[1]).unlink()
    outcome = run_grid(PLAN, SETUP, folder.root, CPU)
    (reason,) = outcome.failed.values()
    assert "remove the file: it is made anew" in reason or "write the file again" in reason
    folder.weights(CELL).unlink()
    folder.checkpoint(CELL).unlink()  # of a training of something else
    assert run_grid(PLAN, SETUP, folder.root, CPU).missing == ()


def test_files_say_what_they_were_made_from(whole):
    def facts(name):
        with np.load(whole / name) as file:
            return json.loads(str(file["meta"]))

    weights = facts("weights/baseline.resnet_demo.0.npz")
    severities = json.loads((whole / "corruptions.json").read_text())
    plan = json.loads((whole / "grid.json").read_text())
    assert {one["schema"] for one in (weights, severities, plan)} == {1}
    assert severities["weights"] == [weights["content"]]
    assert severities["data"] == plan["data"] == facts("labels.npz")["data"]
    for cell in PLAN.cells():
        assert facts(f"{cell.name}.npz")["weights"] == [weights["content"]]
