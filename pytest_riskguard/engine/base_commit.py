"""What the judged commit changed about how it is judged, found by a comparison with the commit that it is based on.

The riskguard.yaml, the manifests of its store and its ledger of looks in the work tree are compared with what git has
of them at the base: the merge base with the branch that a pull request goes to, else the first parent of HEAD. Git
only reads, see ``baselines.git``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_riskguard.baselines.git import Repository
from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.build import Base, build_of_ci
from pytest_riskguard.config.load import load_config
from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.errors import RiskguardError
from pytest_riskguard.frozen import frozen
from pytest_riskguard.limits import MANIFEST_BYTES, YAML_BYTES, Limit
from pytest_riskguard.reports.policy_changes import MOST_KEPT, Change, PolicyChanges, ordered
from pytest_riskguard.text import clean, short

if TYPE_CHECKING:
    from pytest_riskguard.baselines.manifest import Manifest
    from pytest_riskguard.config.schema import Config, GateSettings

#: What git has of a file that Git LFS keeps: a pointer with the digest of its content.
_LFS = b"version https://git-lfs"
_LACKING = "the clone does not have it as it was"
#: Settings that change what reports show, and no outcome.
_SHOWN_ONLY = ("collection.documents.path", "collection.documents.url")
#: Settings of the file that a gate may have of its own: the effective ones are compared gate by gate.
_OF_GATES = {"measures": "measure", "candidate": "candidate"}


def policy_changes(files: Iterable[Path]) -> PolicyChanges | None:
    """What the judged commit changed about these riskguard.yaml; None if nothing, or where git cannot say.

    In a pull request whose base the clone lacks, the answer says so.
    """
    build = build_of_ci()
    pull = None if build is None else build.base
    changes: list[Change] = []
    bases: dict[Path, str | None] = {}
    unknown: dict[str, None] = {}
    for file in dict.fromkeys(Path(os.path.realpath(path)) for path in files):
        repository = Repository.around(file.parent)
        if repository is None:
            continue
        if repository.root not in bases:
            bases[repository.root] = _base(repository, pull)
        base = bases[repository.root]
        if base is None:
            if pull is not None:
                unknown.setdefault(_lacking(repository, pull))
            continue
        comparison = _Comparison(repository, base, file)
        changes += comparison.changes()
        unknown |= dict.fromkeys(comparison.unknown)
    if not (changes or unknown):
        return None
    return PolicyChanges(
        base=next(filter(None, bases.values()), None),
        pull_request=pull is not None,
        changes=ordered(changes)[:MOST_KEPT],
        more=max(len(changes) - MOST_KEPT, 0),
        unknown="; ".join(unknown) or None,
    )


def _base(repository: Repository, pull: Base | None) -> str | None:
    """The commit to compare with; None if the clone does not have it."""
    head, *parents = repository.head() or ("",)
    if pull is None or (head == pull.merge and len(parents) == 2):
        return parents[0] if parents else None
    branch = f"refs/remotes/origin/{pull.branch}" if pull.branch else None
    for other in filter(None, (branch, pull.commit)):
        if (common := repository.merge_base(other)) is not None:
            return common
    return None


def _lacking(repository: Repository, pull: Base) -> str:
    branch = clean(pull.branch or "the target branch", limit=100)
    depth = f"the history up to {branch} (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab)"
    if pull.merge is not None and repository.head()[:1] == (pull.merge,):
        depth = "fetch-depth: 2"
    return (
        "what this pull request changed of gates, baselines and ledger is not known: "
        f"the clone does not have the commit of {branch} that it is based on; check out with {depth}"
    )


@frozen
class _Comparison:
    """A riskguard.yaml and what it names, now and at the base; ``unknown`` gets what cannot be compared, and why."""

    repository: Repository
    base: str
    file: Path
    unknown: list[str] = field(default_factory=list)

    def changes(self) -> list[Change]:
        """Everything that changed, in no order; nothing if the file cannot be read, which is said elsewhere."""
        now = self._now(self.file, YAML_BYTES)
        places = None if now is None else self._places(now)
        if now is None or places is None:
            return []
        store, ledger = places
        own = self._name(self.file)
        current: dict[str, bytes | None] = {own: now}
        if store is not None:
            for path in sorted((self.repository.root / store).glob("*/manifest.json")):
                if _is_manifest(name := self._name(path), store):
                    current[name] = self._now(path, MANIFEST_BYTES)
        if ledger is not None:
            current[ledger] = self._now(self.repository.root / ledger, MANIFEST_BYTES)

        found = self.repository.files(self.base, [name for name in (own, store, ledger) if name is not None])
        before = {name: blob for name, blob in found.items() if name in (own, ledger) or _is_manifest(name, store)}
        changed = [name for name in {**current, **before} if not self._is_same(current.get(name), before.get(name))]
        if not changed:
            return []
        wanted = {name: before[name] for name in changed if name in before}
        limits = {own: YAML_BYTES.value}
        earlier = {
            name: self.repository.content(blob, most=limits.get(name, MANIFEST_BYTES.value))
            for name, blob in wanted.items()
        }
        new = self._committed(name for name in changed if name not in before)
        if own in changed and own not in before:
            return [Change("file_added", self._shown, (self._shown,))] if own in new else []
        changes = list(self._of_settings(earlier[own], now)) if own in changed else []
        for name in changed:
            if name == ledger:
                if name in before and earlier[name] is None:
                    self.unknown.append(f"what changed in {clean(name)} is not known: {_LACKING}")
                elif name in before or name in new:
                    changes += self._of_ledger(earlier.get(name), current.get(name))
            elif name != own and (name in before or name in new):
                changes += self._of_baseline(name, earlier.get(name), current.get(name), is_new=name in new)
        return changes

    def _places(self, content: bytes) -> tuple[str | None, str | None] | None:
        """Store and ledger of the file, from the root; each None where it is not in the repository.

        They are read without the schema, which takes longer to load than everything here.
        """
        from pytest_riskguard.config import yaml_lines
        from pytest_riskguard.config.schema import LEDGER

        try:
            data = yaml_lines.parse(yaml_lines.decode(content)).data
        except yaml_lines.YamlError:
            return None
        if not isinstance(data, dict):
            return None
        ledger = None if data.get("budget") is None else LEDGER
        return self._place(data.get("store", "baselines")), self._place(ledger)

    def _place(self, text: Any) -> str | None:
        if not isinstance(text, str) or not text or "://" in text or "\0" in text:
            return None
        path = Path(os.path.realpath(self.file.parent / text))
        return self._name(path) if path.is_relative_to(self.repository.root) else None

    @property
    def _shown(self) -> str:
        """The name of the file in a report, which is text whatever the bytes of the name are."""
        return self._name(self.file).encode("utf-8", "replace").decode()

    def _name(self, path: Path) -> str:
        return path.relative_to(self.repository.root).as_posix()

    @staticmethod
    def _now(path: Path, limit: Limit) -> bytes | None:
        try:
            return read_limited(path, limit)
        except RiskguardError:
            return None

    @staticmethod
    def _is_same(now: bytes | None, before: Any) -> bool:
        return before is None if now is None else before is not None and before.is_of(now)

    def _committed(self, names: Iterable[str]) -> set[str]:
        """Those that HEAD has: what is not committed, such as a store kept outside git, is nobody's change."""
        asked = list(names)
        return set(self.repository.files("HEAD", asked)) if asked else set()

    def _of_settings(self, before: bytes | None, now: bytes) -> Iterator[Change]:
        file = self._shown
        with suppress(RiskguardError):
            new = load_config(self.file, require_gates=False, content=now)
            if before is None:
                self.unknown.append(f"what changed in {clean(file)} is not known: {_LACKING}")
                return
            try:
                old = load_config(self.file, require_gates=False, content=before)
            except RiskguardError:
                why = "this version cannot read it as it was"
                self.unknown.append(f"what changed in {clean(file)} is not known: {why}")
                return
            yield from self._between(old, new)

    def _between(self, old: Config, new: Config) -> Iterator[Change]:
        file = self._shown
        folder = self.file.parent
        earlier, present = ({gate.name: gate for gate in config.gates} for config in (old, new))
        for what, names in (("gate_removed", earlier.keys() - present), ("gate_added", present.keys() - earlier)):
            if names:
                yield Change(what, file, tuple(sorted(names)))
        alike: dict[tuple[str, str | None, str | None], list[str]] = {}
        for name in (name for name in present if name in earlier):
            for setting, values in _differing(_of_gate(earlier[name], old), _of_gate(present[name], new)):
                alike.setdefault((setting, *_as_text(values, folder)), []).append(name)
        for (setting, value, other), gates in alike.items():
            yield Change("option", file, tuple(gates), setting, value, other)
        said = {setting for setting, *_ in alike}
        for setting, values in _differing(_flat(old), _flat(new)):
            if setting not in _SHOWN_ONLY and _OF_GATES.get(setting) not in said:
                yield Change("setting", file, (), setting, *_as_text(values, folder))

    def _of_baseline(self, path: str, before: bytes | None, now: bytes | None, *, is_new: bool) -> Iterator[Change]:
        file, names = self._shown, (Path(path).parent.name,)
        if now is None or is_new:
            yield Change("baseline_added" if is_new else "baseline_removed", file, names)
            return
        if before is not None and before.startswith(_LFS) and hashlib.sha256(now).hexdigest().encode() in before:
            return
        old, new = _manifest(before), _manifest(now)
        if old is None or new is None or old.digests.run != new.digests.run:
            yield Change("baseline_replaced", file, names)
        elif old.digests != new.digests or old.measures != new.measures:
            yield Change("baseline_rescored", file, names)
        if old is not None and new is not None:
            for setting, one, other in (
                ("replicates", str(len(old.replicates)), str(len(new.replicates))),
                ("allow_unanswered", str(old.allow_unanswered).lower(), str(new.allow_unanswered).lower()),
            ):
                if one != other:
                    yield Change("baseline_setting", file, names, setting, one, other)
            if new.number < old.number:
                counts = (str(manifest.number - 1) for manifest in (old, new))
                yield Change("baseline_setting", file, names, "earlier runs", *counts)

    def _of_ledger(self, before: bytes | None, now: bytes | None) -> Iterator[Change]:
        old, new = ({line.strip() for line in (content or b"").splitlines()} - {b""} for content in (before, now))
        for what, looks in (("looks_removed", old - new), ("looks_added", new - old)):
            if looks:
                yield Change(what, self._shown, after=str(len(looks)))


def _is_manifest(name: str, store: str | None) -> bool:
    path = Path(name)
    return (
        store is not None
        and path.name == "manifest.json"
        and path.parent.parent.as_posix() == store
        and name_problem(path.parent.name) is None
    )


def _manifest(content: bytes | None) -> Manifest | None:
    from pytest_riskguard.baselines.manifest import Manifest
    from pytest_riskguard.serialization import JsonError

    try:
        return None if content is None else Manifest.from_bytes(content)
    except JsonError:
        return None


def _of_gate(gate: GateSettings, config: Config) -> dict[str, Any]:
    """What a gate is asked with: what it says itself, its defaults, and what it takes from the file."""
    values = {name: getattr(gate, name) for name in type(gate).model_fields if name != "name"}
    return values | {own: values[own] or getattr(config, shared) for shared, own in _OF_GATES.items()}


def _flat(model: Any, prefix: str = "") -> dict[str, Any]:
    """The settings of a file by their keys, ``collection.topics.path``, without its gates."""
    from pydantic import BaseModel

    found: dict[str, Any] = {}
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel) and name != "candidate":
            found |= _flat(value, f"{prefix}{name}.")
        elif prefix or name != "gates":
            found[prefix + name] = value
    return found


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """The keys whose values differ, with both values; of a gate of another kind that alone is said."""
    for key in dict.fromkeys([*old, *new]):
        before, now = old.get(key), new.get(key)
        if before != now and (before or now or (key in old and key in new)):  # else a default that is now written
            yield key, (before, now)
            if key == "kind":
                return


def _as_text(values: tuple[Any, Any], folder: Path) -> tuple[str | None, str | None]:
    """Two values as the file writes them; None for both if one of them has no short form."""
    texts = [_text(value, folder) for value in values]
    shown = [None if None in texts else clean(text or "", limit=200) for text in texts]
    return shown[0], shown[1]


def _text(value: Any, folder: Path) -> str | None:
    from pytest_riskguard.config.schema import ComputedBaseline

    match value:
        case None | ():
            return "none"
        case bool():
            return str(value).lower()
        case int() | float():
            return short(value)
        case str():
            return value
        case Path():  # one that is not absolute is an address
            return Path(os.path.relpath(value, folder)).as_posix() if value.is_absolute() else str(value)
        case tuple():
            texts = [_text(one, folder) for one in value]
            return None if None in texts else ", ".join(filter(None, texts))
        case ComputedBaseline():
            return f"{value.kind} of {', '.join((*value.systems, *['candidate'] * value.candidate_inside))}"
        case _:
            return None
