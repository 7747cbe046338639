"""Problems with files, said from where the user stands."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pytest_riskguard.config.settings import Candidate, CandidateFile, Config


def from_here(message: str, config: pytest.Config) -> str:
    """A message whose paths inside the working folder or the rootdir are relative to the working folder."""
    here = config.invocation_params.dir
    for folder, prefix in ((here, ""), (config.rootpath, f"{os.path.relpath(config.rootpath, here)}{os.sep}")):
        if folder.parent != folder:
            start = re.escape(f"{folder}{os.sep}")
            message = re.sub(rf"(?<![\w./\\-]){start}", lambda _, prefix=prefix: prefix, message)  # type: ignore[misc]
    return message


def whose(message: str, settings: Config, candidate: Candidate | None) -> str:
    """A message that begins with a file, and which setting names that file."""
    named: dict[Path, tuple[str, int]] = {settings.collection.qrels: ("qrels", settings.collection.line)}
    if settings.collection.topics is not None:
        named[settings.collection.topics] = ("topics", settings.collection.line)
    if isinstance(candidate, CandidateFile):
        named[candidate.path] = ("candidate", candidate.line)
    for path, (what, line) in named.items():
        if message.startswith(f"{path}:"):
            return f"{message} (the {what} named in {settings.path}:{line})"
    return message
