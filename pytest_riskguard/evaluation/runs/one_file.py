"""A run in several files as one file in TREC's format, for those who keep it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from pytest_riskguard.errors import RunFormatError, UsageError
from pytest_riskguard.evaluation.runs.rankings import Rankings, write_run
from pytest_riskguard.evaluation.runs.run_files import open_file
from pytest_riskguard.evaluation.runs.run_folders import RunInPieces, folder_of
from pytest_riskguard.formats.files.remote_files import local_copy
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.formats.input_files import ContentError, blocks
from pytest_riskguard.formats.limits import RUN_BYTES
from pytest_riskguard.formats.topic_keys import TopicKeys


def as_one_file(run: RunInPieces, keys: TopicKeys | None = None) -> Path:
    """A file with the rows of all parts, in the order of their names, which is there until this process ends.

    ``UsageError`` for a scored part, which has no rows; ``DataError`` as ``folder_of`` and ``open_file``.
    """
    folder = folder_of(run.given.path)
    if folder is None:
        raise UsageError(f"{run.given.path}: a scored part holds no run that could be kept; name the run itself")
    place = Path(tempfile.mkdtemp(prefix="riskguard-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    target = place / (run.given.path.name or "run")
    with target.open("wb") as file:
        for part in folder.files:
            try:
                with local_copy(part, RUN_BYTES) as path:
                    _append(replace(run.given, path=path), keys, file)
            except ContentError as problem:
                raise RunFormatError(part, None, str(problem)) from None
    return target


def _append(given: GivenFile, keys: TopicKeys | None, file: BinaryIO) -> None:
    opened = open_file(given, keys)
    if isinstance(opened, Rankings):
        write_run(file, opened)
        return
    last = b"\n"
    for block in blocks(opened, RUN_BYTES):
        file.write(block)
        last = block[-1:]
    if last != b"\n":
        file.write(b"\n")
