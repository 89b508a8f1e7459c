"""Reader studies: published figures, slow twins, coverage."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t

from equipoise.inference.reader_study import between_arms, between_readers
from equipoise.types import InputError
from tests.inference.test_per_reader_truth import THETA, van_dyke


def numbers(contrast):
    return contrast.value, contrast.spread.standard_error, contrast.spread.df


def influences_with(covariance):
    """Influences of cases whose covariance over cases is exactly that matrix."""
    size = covariance.shape[0] * covariance.shape[1]
    flat = covariance.reshape(size, size)
    units = size + 1
    random = np.random.default_rng(0)
    basis = np.linalg.qr(np.column_stack([np.ones(units), random.normal(size=(units, size))]))
    values, vectors = np.linalg.eigh(flat)
    root = vectors * np.sqrt(np.maximum(values, 0))
    rows = root @ basis[0][:, 1:].T * np.sqrt((units - 1) / units)
    return rows.reshape(*covariance.shape[:2], units)


def test_van_dyke_as_published():
    """Two treatments, five readers: OR-DBM MRMC 2.51."""
    contrast = between_arms(THETA, influences_with(van_dyke()))
    assert contrast.value == pytest.approx(-0.04380, abs=5e-6)
    assert contrast.spread.standard_error == pytest.approx(0.02075, abs=5e-6)
    assert contrast.spread.df == pytest.approx(15.26, abs=0.005)
    assert contrast.spread.p_value(contrast.value) == pytest.approx(0.0517, abs=5e-4)
    assert_allclose(contrast.spread.interval(contrast.value), [-0.08796, 0.00036], atol=6e-6)
    assert contrast.paired and contrast.readers == 5


def test_a_constant_model_leaves_the_single_treatment_analysis():
    """Van Dyke's single treatments: 12.74 and 12.71 degrees of freedom."""
    influences = influences_with(van_dyke())
    for arm, error, df in ((0, 0.03317360, 12.74), (1, 0.02156637, 12.71)):
        contrast = between_readers(0.9 - THETA[arm], influences[arm])
        assert contrast.value == pytest.approx(0.9 - THETA[arm].mean())
        assert contrast.spread.standard_error == pytest.approx(error, abs=1e-7)
        assert contrast.spread.df == pytest.approx(df, abs=0.005)


FED = {  # by treatment: AUC of four readers, covariance of two readers, error, Hillis' df
    1: ((0.90425, 0.79820, 0.81175, 0.86645), 0.00021119, 0.02857824, 5.46),
    2: ((0.86425, 0.84470, 0.82050, 0.87160), 0.00026649, 0.01992816, 27.72),
    3: ((0.81295, 0.81635, 0.75275, 0.85730), 0.00024646, 0.02664789, 7.04),
    4: ((0.90235, 0.83150, 0.78865, 0.87980), 0.00022043, 0.02940870, 5.40),
    5: ((0.84140, 0.77300, 0.77115, 0.84800), 0.00022200, 0.02575835, 6.78),
}


@pytest.mark.parametrize("treatment", FED)
def test_federica_zanca_as_published(treatment):
    """Five treatments, four readers, 200 cases: OR-DBM MRMC 2.51, each treatment alone.

    Zanca et al., Medical Physics 36 (2009); output in the files of RJafroc (inst/Iowa).
    """
    values, shared, error, df = FED[treatment]
    covariance = np.full((1, 4, 1, 4), shared)
    covariance[0, range(4), 0, range(4)] = 0.00078912
    influences = influences_with(covariance)
    contrast = between_readers(0.9 - np.array(values), influences[0])
    assert contrast.spread.standard_error == pytest.approx(error, abs=2e-7)
    assert contrast.spread.df == pytest.approx(df, abs=0.006)


def test_a_model_beside_readers_is_a_second_treatment_that_all_readers_share():
    """One treatment with differences equals two with the model's ratings repeated."""
    random = np.random.default_rng(1)
    values, model = random.uniform(0.7, 0.9, 6), 0.85
    influences, moved = random.normal(0, 0.003, (6, 80)), random.normal(0, 0.003, 80)
    alone = between_readers(model - values, moved - influences)
    repeated = between_arms(
        np.stack([np.full(6, model), values]),
        np.stack([np.tile(moved, (6, 1)), influences]),
    )
    assert_allclose(numbers(alone), numbers(repeated))


def slow_split(values, influences):
    """Split plot from the definition, in loops."""
    units = influences.shape[2]
    rows = [[j for j in range(values.shape[1]) if np.isfinite(values[i, j])] for i in (0, 1)]

    def mean(i, k):
        pairs = [(a, b) for a in rows[i] for b in rows[k] if not (i == k and a == b)]
        over = [influences[i, a] @ influences[k, b] * units / (units - 1) for a, b in pairs]
        return sum(over) / len(over)

    parts = [np.var(values[i, rows[i]], ddof=1) / len(rows[i]) for i in (0, 1)]
    whole = sum(parts) + max(mean(0, 0) + mean(1, 1) - 2 * mean(0, 1), 0)
    below = sum(part**2 / (len(row) - 1) for part, row in zip(parts, rows, strict=True))
    gap = values[0, rows[0]].mean() - values[1, rows[1]].mean()
    return gap, whole**0.5, whole**2 / below


def test_split_plot_is_the_definition():
    random = np.random.default_rng(2)
    values = np.full((2, 9), np.nan)
    values[0, :4], values[1, 4:] = random.uniform(0.7, 0.9, 4), random.uniform(0.7, 0.9, 5)
    influences = random.normal(0, 0.01, (2, 9, 50)) + random.normal(0, 0.01, 50)
    contrast = between_arms(values, influences)
    assert_allclose(numbers(contrast), slow_split(values, influences))
    assert not contrast.paired and contrast.readers == 9


def test_readers_of_both_arms_are_paired_and_others_left_out():
    random = np.random.default_rng(3)
    values, influences = random.uniform(0.7, 0.9, (2, 5)), random.normal(0, 0.01, (2, 5, 40))
    values[1, 4] = np.nan
    contrast = between_arms(values, influences)
    assert_allclose(numbers(contrast), numbers(between_arms(values[:, :4], influences[:, :4])))
    assert contrast.readers == 4


def test_a_reader_of_both_arms_is_left_out_of_a_split_plot():
    random = np.random.default_rng(6)
    values, influences = random.uniform(0.7, 0.9, (2, 7)), random.normal(0, 0.01, (2, 7, 40))
    values[0, 4:], values[1, :3] = np.nan, np.nan  # the reader of place 3 read in both
    contrast = between_arms(values, influences)
    alone = [0, 1, 2, 4, 5, 6]
    assert contrast.readers == 6
    assert_allclose(
        numbers(contrast), numbers(between_arms(values[:, alone], influences[:, alone]))
    )


def test_the_other_side_has_the_other_sign():
    random = np.random.default_rng(4)
    values, influences = random.uniform(0.7, 0.9, (2, 5)), random.normal(0, 0.01, (2, 5, 40))
    one, other = between_arms(values, influences), between_arms(values[::-1], influences[::-1])
    assert one.value == -other.value and one.spread.df == other.spread.df
    assert_allclose(
        one.spread.interval(one.value, 0.9),
        [-end for end in other.spread.interval(other.value, 0.9)[::-1]],
    )
    assert one.spread.interval(one.value, 0.99)[1] > one.spread.interval(one.value, 0.95)[1]
    half = (one.spread.interval(one.value, 0.9)[1] - one.value) / one.spread.standard_error
    assert half == pytest.approx(t.ppf(0.95, one.spread.df))


def test_too_few_readers_are_refused():
    influences = np.zeros((2, 2, 30))
    with pytest.raises(InputError, match="1 reader with a value on one side"):
        between_arms(np.array([[0.8, np.nan], [np.nan, 0.7]]), influences)
    with pytest.raises(InputError, match="at least 2"):
        between_readers(np.array([0.1]), influences[0, :1])


@pytest.mark.parametrize("paired", [True, False])
def test_equal_arms_are_rarely_called_apart(paired):
    random, apart = np.random.default_rng(5), []
    for _ in range(400):
        case = random.standard_normal(60)
        skill = (
            0.3 * random.standard_normal((1, 5))
            if paired
            else 0.3 * random.standard_normal((2, 5))
        )
        marks = 0.5 * case + skill[..., None] + random.standard_normal((2, 5, 60))
        values = marks.mean(axis=2)
        influences = (marks - values[..., None]) / 60
        if not paired:
            full = np.full((2, 10), np.nan)
            full[0, :5], full[1, 5:] = values
            moved = np.zeros((2, 10, 60))
            moved[0, :5], moved[1, 5:] = influences
            values, influences = full, moved
        contrast = between_arms(values, influences)
        apart.append(contrast.spread.p_value(contrast.value) < 0.05)
    assert 0.02 <= np.mean(apart) <= 0.08
