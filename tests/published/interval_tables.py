"""The tables of docs/reproduction.md on ADCS 2019, from what ``riskguard study intervals`` prints."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.published import web2012
from tests.published.studies import Figures, figures, table
from tests.published.tables import as_csv
from tests.published.web2012 import TOPICS, minus

METHODS = ("student_t", "basic", "studentized", "percentile", "bca")
ALPHAS = (0, 9)


def study(shared: Path) -> Figures:
    """The study of the 48 submitted runs against indriCASP."""
    pool = {**web2012.submitted(shared), "indriCASP": web2012.indri_casp(shared)}
    with TemporaryDirectory() as folder:
        path = table(Path(folder) / "err20.csv", pool, TOPICS.tolist())
        return figures("intervals", "--scores", path, "--baseline", "indriCASP")


def intervals(found: Figures) -> Iterator[tuple[object, ...]]:
    yield "r", "level", "method", "risky", "better", "neither", "median width", "median limits of URisk-"
    for alpha in ALPHAS:
        for level in ("95%", "99.9%"):
            for method in METHODS:
                part = f"Verdicts, alpha {alpha}, level {level}"
                said = [f"{found(part, method, verdict):.0f}" for verdict in ("risky", "better", "neither")]
                _, low, high = found.cells[part, method, "median limits"][0]
                width = f"{found(part, method, 'median width'):.4f}"
                yield alpha + 1, level, method, *said, width, f"{minus(high):.4f} to {minus(low):.4f}"


def normality(found: Figures) -> Iterator[tuple[object, ...]]:
    yield "r", "trade-off scores", "bootstrap means"
    part = "Shapiro-Wilk's W, medians over systems"
    for alpha in ALPHAS:
        row = f"alpha {alpha}, 50 topics"
        yield alpha + 1, f"{found(part, row, 'trade-off scores'):.3f}", f"{found(part, row, 'bootstrap means'):.4f}"


def tables(shared: Path) -> dict[str, str]:
    """Both tables, by the name of their file."""
    found = study(shared)
    return {"study-intervals": as_csv(intervals(found)), "study-normality": as_csv(normality(found))}
