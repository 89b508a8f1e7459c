"""Public names: what a package lists is there, and nothing else shows."""

from importlib import import_module

import pytest

import equipoise
from equipoise import inference

ROOMS = {"clean", "datasets", "inference", "metrics", "sets", "study", "truth", "uq"}
FUNCTIONS = {
    "evaluate", "read_annotations", "read_plausibilities", "read_predictions", "read_study",
    "resample", "write_plausibilities",
    "write_study",
}  # fmt: skip
TYPES = {
    "Annotations", "Estimate", "Evaluation", "InputError", "Plausibilities", "Predictions",
    "Resampling", "Run", "Settings",
}  # fmt: skip
INFERENCE = {
    "Ballots", "CROWD", "Crossing", "DENSE", "Design", "Family", "Layout", "Population",
    "Reason", "Spread", "TwoWay", "crossed_design", "crowd_square",
    "dense_traces", "family", "floor_of", "gap_sums", "item_degrees", "joint_design",
    "judge", "mid_ranks", "normal_replicates", "obuchowski_rockette", "population_of",
    "ranking_design",
    "seed_means", "single_design", "two_way", "unit_design",
}  # fmt: skip


def test_the_package_shows_its_functions_types_and_rooms_alone():
    assert set(equipoise.__all__) == FUNCTIONS | TYPES
    assert set(dir(equipoise)) == FUNCTIONS | TYPES | ROOMS | {"__version__"}
    assert all(getattr(equipoise, name) is not None for name in dir(equipoise))


def test_inference_lists_exactly_what_it_offers():
    assert set(inference.__all__) == INFERENCE == set(dir(inference))
    assert all(hasattr(inference, name) for name in inference.__all__)


@pytest.mark.parametrize("room", ["clean", "inference", "metrics", "truth", "uq"])
def test_a_room_shows_what_it_lists_and_nothing_else(room):
    module = import_module(f"equipoise.{room}")
    assert dir(module) == sorted(module.__all__)
    assert all(getattr(module, name) is not None for name in module.__all__)
