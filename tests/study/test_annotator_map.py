"""Map of annotators: distances are kept where two dimensions can, and pairs are named."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.study.analyses.annotators import annotator_map, place_on_plane
from equipoise.types.arrays import InputError
from tests.oracles import bootstrap


def test_distances_on_a_plane_are_kept():
    spots = np.random.default_rng(1).normal(size=(5, 2)) / 5
    far = np.linalg.norm(spots[:, None] - spots, axis=-1)
    plane = place_on_plane(1 - far)
    found = np.linalg.norm(plane.places[:, None] - plane.places, axis=-1)
    assert_allclose(found, far, atol=1e-9)
    assert plane.held == pytest.approx(1)


def test_pairs_without_a_kappa_have_the_mean_distance_and_one_annotator_a_place():
    kappa = np.array([[np.nan, 0.4, np.nan], [0.4, np.nan, 0.8], [np.nan, 0.8, np.nan]])
    assert np.isfinite(place_on_plane(kappa).places).all()
    assert_allclose(place_on_plane(np.array([[np.nan]])).places, [[0, 0]])
    flat = place_on_plane(np.ones((3, 3)))
    assert_allclose(flat.places, 0) and flat.held == 1


def test_the_finding_names_the_ends_and_places_everybody():
    random = np.random.default_rng(3)
    truth = random.random(80) < 0.5
    votes = np.stack([np.where(random.random(80) < p, truth, ~truth) for p in (0.95, 0.9, 0.6)])
    done = annotator_map(bootstrap.annotations(votes.T.astype(float)))
    finding, rows = done.report(), done.rows()
    assert len(rows) == 3 and rows[0]["kappa"] >= rows[-1]["kappa"]
    assert f"{rows[0]['first']} and {rows[0]['second']} agree most" in finding.sentence
    assert f"{rows[-1]['first']} and {rows[-1]['second']} agree least" in finding.sentence
    (chart,) = finding.charts
    assert chart.square and [point.name for point in chart.points] == list(done.annotators)
    assert finding.key == "pairs" and "[@cohen1960]" in finding.methods
    with pytest.raises(InputError):
        annotator_map(bootstrap.annotations(votes.T.astype(float)).anonymous())
