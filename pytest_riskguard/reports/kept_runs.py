"""Answers that were judged, kept beside the JSON report, so that what is accepted later is what was judged.

They lie in a folder that is called as the report is, ``report.runs`` beside ``report.json``, each under the name of
its system and the beginning of its digest: workers of pytest-xdist may each have queried a live system.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_riskguard.data.runs import Run

_SUFFIX = ".json"
_KEPT = re.compile(r".*-[0-9a-f]{12}\.run\.gz")


def folders(reports: Sequence[Path]) -> tuple[Path, ...]:
    """The folders beside the JSON reports among these files."""
    return tuple(folder_of(path) for path in reports if path.suffix.lower() == _SUFFIX)


def folder_of(report: Path) -> Path:
    """The folder with the answers that a JSON report is about."""
    return report.with_suffix(".runs")


def keep(run: Run, name: str, folders: Sequence[Path]) -> tuple[str, str]:
    """Write a run into each folder, whole or not at all; returns the name of its file and the digest of its text.

    ``OSError`` if that is not possible, and for a folder that is a link: who changes the repository may have made it.
    """
    from pytest_riskguard.data.trec import write_run
    from pytest_riskguard.reports.files import write_bytes

    text = io.BytesIO()
    write_run(text, run)
    digest = hashlib.sha256(text.getvalue()).hexdigest()
    file = f"{re.sub('[^A-Za-z0-9._-]+', '-', name)[:60]}-{digest[:12]}.run.gz"
    for folder in folders:
        if folder.is_symlink():
            raise OSError(f"{folder} is a link")
        folder.mkdir(exist_ok=True)
        if not (folder / file).is_file():
            write_bytes(folder / file, gzip.compress(text.getvalue(), mtime=0))
    return file, f"sha256:{digest}"


def withdraw(report: Path) -> None:
    """Remove the answers that an earlier run kept beside a report, and nothing else."""
    for folder in folders([report]):
        if folder.is_dir() and not folder.is_symlink():
            for file in folder.iterdir():
                if _KEPT.fullmatch(file.name):
                    file.unlink()
            with suppress(OSError):  # it holds something of somebody else
                folder.rmdir()
