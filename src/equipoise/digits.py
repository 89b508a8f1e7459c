"""Digits: how a number is written wherever people read it, the same on every surface.

Three decimals; a number that these would make zero gets two significant digits, without an
exponent down to a millionth. Files for machines have all digits instead.
"""

import math

LEAST = 1e-6  # below that, zeros are harder to count than an exponent is to read


def fixed(value: float, digits: int = 3) -> str:
    """Write a number with a fixed count of decimals, and never make one zero that is not.

    Examples
    --------
    >>> fixed(0.12345), fixed(0.0000534), fixed(-0.00014), fixed(0.0), fixed(3.2e-9)
    ('0.123', '0.000053', '-0.00014', '0.000', '3.2e-09')
    """
    if not 0 < abs(value) < 0.5 * 10**-digits:
        return f"{value:.{digits}f}"
    if abs(value) < LEAST:
        return f"{value:.1e}"
    return f"{value:.{decimals(value)}f}"


def significant(value: float) -> str:
    """Write two significant digits, without an exponent down to a millionth.

    Examples
    --------
    >>> significant(0.0000991), significant(0.0053), significant(12.3), significant(0.0)
    ('0.000099', '0.0053', '12', '0')
    """
    return f"{value:.{decimals(value)}f}" if LEAST <= abs(value) < 1 else f"{value:.2g}"


def decimals(value: float) -> int:
    """How many decimals show two significant digits of a number below one.

    Examples
    --------
    >>> decimals(0.00014), decimals(0.0000999)
    (5, 5)
    """
    return -int(f"{value:.1e}".split("e")[1]) + 1 if math.isfinite(value) and value else 0
