"""Messages with paths as the person who called pytest sees them."""

from __future__ import annotations

import os
import re

import pytest


def from_here(message: str, config: pytest.Config) -> str:
    """A message whose paths inside the working folder or the rootdir are relative to the working folder."""
    here = config.invocation_params.dir
    for folder, prefix in ((here, ""), (config.rootpath, f"{os.path.relpath(config.rootpath, here)}{os.sep}")):
        if folder.parent != folder:
            start = re.escape(f"{folder}{os.sep}")
            message = re.sub(rf"(?<![\w./\\-]){start}", lambda _, prefix=prefix: prefix, message)  # type: ignore[misc]
    return message
