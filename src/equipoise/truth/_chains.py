"""Diagnostics of Markov chains, one chain per column."""

import numpy as np

from equipoise.types.arrays import Floats


def effective_size(draws: Floats) -> Floats:
    """Effective number of draws by Geyer's initial positive sequence, per column.

    Examples
    --------
    >>> white = np.random.default_rng(0).standard_normal((2000, 1))
    >>> bool(1500 < effective_size(white)[0] < 2600)
    True
    """
    number = len(draws)
    centred = draws - draws.mean(axis=0)
    size = 2 ** int(np.ceil(np.log2(2 * number)))
    spectrum = np.fft.rfft(centred, size, axis=0)
    moment = np.fft.irfft(spectrum * np.conj(spectrum), axis=0)[:number] / number
    steady = moment[0] > 0
    rho = moment / np.where(steady, moment[0], 1.0)
    pairs = rho[1 : number - 1 : 2] + rho[2:number:2][: len(rho[1 : number - 1 : 2])]
    before_negative = np.cumprod(pairs > 0, axis=0)
    return np.where(steady, number / (1 + 2 * (pairs * before_negative).sum(axis=0)), number)


def split_r_hat(draws: Floats) -> Floats:
    """Gelman and Rubin's R-hat of the two halves of each chain, per column; 1 is converged."""
    half = len(draws) // 2
    if half < 2:
        return np.full(draws.shape[1], np.nan)
    parts = np.stack([draws[:half], draws[half : 2 * half]])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = half * parts.mean(axis=1).var(axis=0, ddof=1)
    total = (half - 1) / half * within + between / half
    return np.where(within > 0, np.sqrt(total / np.where(within > 0, within, 1.0)), 1.0)
