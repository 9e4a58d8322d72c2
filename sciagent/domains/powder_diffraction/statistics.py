"""Measures of agreement (Toby, Powder Diffr. 21 (2006) 67, doi:10.1154/1.2179804)."""

import math

import numpy as np

from sciagent.domains.powder_diffraction.types import FloatArray


def chi2_from_residuals(observed: FloatArray, calculated: FloatArray, sigma: FloatArray) -> float:
    """Weighted sum of squares ``Σ ((y_o - y_c) / σ)²``."""
    return float(np.sum(((observed - calculated) / sigma) ** 2))


def r_wp_from_pattern(
    observed: FloatArray,
    calculated: FloatArray,
    sigma: FloatArray,
    background: FloatArray | None = None,
) -> float:
    """Weighted profile R factor ``sqrt(Σ w (y_o - y_c)² / Σ w y_o²)`` in per cent.

    Parameters
    ----------
    observed, calculated, sigma
        Counts and their standard deviations, shape ``(channels,)``; ``w = 1 / σ²``.
    background
        Subtracted from the observed counts in the denominator, so that a high background cannot
        flatter the fit.
    """
    signal = observed if background is None else observed - background
    norm = float(np.sum((signal / sigma) ** 2))
    return 100.0 * math.sqrt(chi2_from_residuals(observed, calculated, sigma) / norm)


def r_exp_from_pattern(observed: FloatArray, sigma: FloatArray, parameters: int) -> float:
    """R factor that counting statistics alone would leave, in per cent."""
    freedom = max(observed.size - parameters, 1)
    return 100.0 * math.sqrt(freedom / float(np.sum((observed / sigma) ** 2)))


def delta_bic_from_chi2(
    before: tuple[float, int], after: tuple[float, int], channels: int, esd_inflation: float
) -> float:
    """Information that additional parameters buy; more than zero means they are worth it.

    ``(χ²_before - χ²_after) / (s² f²) - (k_after - k_before) ln(N / f²)``, the difference of the
    Bayesian information criteria (Schwarz, Ann. Statist. 6 (1978) 461,
    doi:10.1214/aos/1176344136) for ``N / f²`` independent channels, where ``f`` is the factor of
    Bérar and Lelann, J. Appl. Cryst. 24 (1991) 1, doi:10.1107/S0021889890008391, and ``s²`` the
    reduced χ² reached, so that a model with flaws does not make all others look good.

    Parameters
    ----------
    before, after
        χ² over the same channels, and number of free parameters.
    channels
        N.
    esd_inflation
        f, at least 1.
    """
    f2 = max(esd_inflation, 1.0) ** 2
    s2 = max(after[0] / max(channels - after[1], 1), 1.0)
    gain = (before[0] - after[0]) / (s2 * f2)
    return gain - (after[1] - before[1]) * math.log(channels / f2)
