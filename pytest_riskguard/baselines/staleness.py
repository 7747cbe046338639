"""How old a baseline is, and what its store has accepted since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pytest_riskguard.baselines.manifest import Manifest


@dataclass(frozen=True)
class Staleness:
    """Age of a baseline. It depends on the clock: to be shown to people, never to move a verdict.

    Attributes
    ----------
    days : int
        Whole days since it was stored; 0 for a clock that is behind.
    accepted_since : int
        Other runs that any baseline of the store has accepted since then in place of what it held.
    """

    days: int
    accepted_since: int


def staleness(name: str, manifests: Mapping[str, Manifest], *, now: str) -> Staleness:
    """Age of one of the baselines of a store.

    Parameters
    ----------
    name : str
        One of ``manifests``.
    manifests : mapping name -> Manifest
        Those of the store that can be read.
    now : str
        ISO 8601, as manifests say when they were made.
    """
    own = manifests[name]
    stored = _time(own.created)
    since = {run for manifest in manifests.values() for run, when in _accepted(manifest) if _time(when) > stored}
    return Staleness(max((_time(now) - stored).days, 0), len(since - {own.digests.run}))


def _accepted(manifest: Manifest) -> list[tuple[str, str]]:
    """Each run that was accepted in place of another, and when."""
    chain = [(earlier.run, earlier.created) for earlier in manifest.history]
    return [*chain, (manifest.digests.run, manifest.created)][1:]


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
