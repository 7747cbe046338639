"""The papers' tables of pools beside ours, as docs/reproduction.md shows them."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from pytest_riskguard.risk import georisk, trisk, urisk, zrisk
from tests.published import test_airs2019, test_ecir2014, test_sigir2016, web2012
from tests.published.tables import as_csv
from tests.published.web2012 import minus, reference_scores


def both(ours: float, printed: float | None, digits: int) -> str:
    """Our figure, and the printed one in brackets."""
    return f"{ours:.{digits}f} ({'none' if printed is None else f'{printed:.{digits}f}'})"


def multiple_baselines(pool: dict[str, np.ndarray]) -> Iterator[tuple[str, ...]]:
    """SIGIR 2016, Table 6."""
    yield "run", *(f"{figure}, alpha {alpha}" for figure in ("T\\*", "ZRisk", "GeoRisk") for alpha in (0, 5))
    runs, scores = list(pool), list(pool.values())
    mean = reference_scores(scores, kind="mean")
    z, geo = (test_sigir2016.curve(risk, scores, (0, 5)) for risk in (zrisk, georisk))
    for run, (_, t_0, z_0, geo_0, t_5, z_5, geo_5, _) in test_sigir2016.WEB_2012.items():
        i = runs.index(run)
        against_mean = [trisk(pool[run] - mean, alpha=alpha).statistic or math.nan for alpha in (0, 5)]
        cells = (
            both(against_mean[0], t_0, 3),
            both(against_mean[1], t_5, 3),
            both(z[i, 0], z_0, 3),
            both(z[i, 1], z_5, 3),
            both(geo[i, 0], geo_0, 4),
            both(geo[i, 1], geo_5, 3),
        )
        yield run, *cells


def minus_convention(pool: dict[str, np.ndarray]) -> Iterator[tuple[str, ...]]:
    """AIRS 2019, Table 2."""
    kinds = ("linear", "smooth")
    yield "run", *(f"{figure}, {kind}" for figure in ("ZRisk-", "by Eq. 8", "GeoRisk-") for kind in kinds)
    runs, scores = list(pool), list(pool.values())
    z = {kind: minus(zrisk(scores, alpha=test_airs2019.ALPHA, kind=kind)) for kind in kinds}
    geo = {kind: minus(georisk(scores, alpha=test_airs2019.ALPHA, kind=kind)) for kind in kinds}
    for run, printed in test_airs2019.PUBLISHED.items():
        i, mean = runs.index(run), pool[run].mean()
        as_printed = [-math.sqrt(mean * ndtr(z[kind][i] / pool[run].size)) for kind in kinds]
        cells = [both(z[kind][i], cell, 2) for kind, cell in zip(kinds, printed[4:6], strict=True)]
        cells += [both(ours, cell, 2) for ours, cell in zip(as_printed, printed[6:], strict=True)]
        cells += [f"{geo[kind][i]:.2f}" for kind in kinds]
        yield run, *cells


def reference_baselines(pool: dict[str, np.ndarray]) -> Iterator[tuple[str, ...]]:
    """ECIR 2014, Table 3; the exchanged cells stand where they belong."""
    yield "run", *(f"{kind}, alpha {alpha}" for kind in ("MEAN", "MEDIAN", "MAX") for alpha in (5, 10))
    scores = [pool[run] for run in test_ecir2014.POOL]
    columns = []
    for kind, printed, pair in (
        ("mean", test_ecir2014.MEAN, ("srchvrs12c09", "DFalah121A")),
        ("median", test_ecir2014.MEDIAN, ("indriCASP", "qutwb")),
        ("max", test_ecir2014.MAX, ()),
    ):
        reference = reference_scores(scores, kind=kind)
        for alpha in (5, 10):
            right = test_ecir2014.exchanged(printed[alpha], *pair) if pair else printed[alpha]
            columns.append(
                [
                    both(urisk(pool[run] - reference, alpha=alpha), cell, 4) + (" \\*" if run in pair else "")
                    for run, cell in zip(test_ecir2014.POOL, right, strict=True)
                ]
            )
    for run, *cells in zip(test_ecir2014.POOL, *columns, strict=True):
        yield run, *cells


def tables(shared: Path) -> dict[str, str]:
    """The three tables, by the name of their file."""
    pool = {**web2012.submitted(shared), "indriCASP": web2012.indri_casp(shared)}
    return {
        "reference-baselines": as_csv(reference_baselines(pool)),
        "multiple-baselines": as_csv(multiple_baselines(pool)),
        "minus-convention": as_csv(minus_convention(pool)),
    }
