"""What a page may load and run: its own style and script, known by their digests, and nothing else."""

from __future__ import annotations

import base64
import hashlib


def content_policy(style: str, script: str | None = None) -> str:
    """The Content-Security-Policy of a page with this style and this script; without one, no script runs."""
    # as browsers hash it: exactly the text between the tags
    scripts = "'none'" if script is None else f"'{_digest(script)}'"
    return (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
