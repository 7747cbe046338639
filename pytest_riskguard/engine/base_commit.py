"""What the judged commit changed about how it is judged, found by a comparison with the commit that it is based on.

The riskguard.yaml, the manifests of its store and its ledger of looks in the work tree are compared, key by key, with
what git has of them at the base: the merge base with the branch that a pull request goes to, else the first parent of
HEAD. What is not committed at all, such as a store kept outside git, is nobody's change. Git only reads, see
``baselines.git``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_riskguard.baselines.git import Repository
from pytest_riskguard.baselines.names import name_problem
from pytest_riskguard.build import Base, build_of_ci
from pytest_riskguard.config import yaml_lines
from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.errors import RiskguardError
from pytest_riskguard.limits import MANIFEST_BYTES, YAML_BYTES, Limit
from pytest_riskguard.reports.policy_changes import Change, PolicyChanges
from pytest_riskguard.text import clean, counted

#: The ledger of looks.
_LEDGER = "looks.jsonl"
#: Where a manifest has the digest of its run.
_RUN = "digests.run"
_LACKING = (
    "what this pull request changed of gates, baselines and ledger is not known: the clone does not have the commit "
    "that it is based on; check out the whole history (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab)"
)


def policy_changes(files: Iterable[Path]) -> PolicyChanges | None:
    """What the judged commit changed about these riskguard.yaml; None if nothing, or where git cannot say.

    In a pull request whose base the clone lacks, the answer says so.
    """
    build = build_of_ci()
    pull = None if build is None else build.base
    changes, unknown = list[Change](), dict[str, None]()
    for file in dict.fromkeys(Path(os.path.realpath(path)) for path in files):
        if (repository := Repository.around(file.parent)) is None:
            continue
        name = file.relative_to(repository.root).as_posix().encode("utf-8", "replace").decode()
        base = _base(repository, pull)
        if base is None:
            unknown |= {} if pull is None else {_LACKING: None}
            continue
        for text in _changes(repository, base, file):
            if text is None:
                unknown[f"what changed in {clean(name)} is not known: it cannot be read as it was"] = None
            else:
                changes.append(Change(name, text))
    if not (changes or unknown):
        return None
    return PolicyChanges(pull is not None, tuple(changes), "; ".join(unknown) or None)


def _base(repository: Repository, pull: Base | None) -> str | None:
    """The commit to compare with; None if the clone does not have it."""
    head, *parents = repository.head() or ("",)
    if pull is None or (head == pull.merge and len(parents) == 2):
        return parents[0] if parents else None
    branch = f"refs/remotes/origin/{pull.branch}" if pull.branch else None
    return next(filter(None, map(repository.merge_base, filter(None, (branch, pull.commit)))), None)


def _changes(repository: Repository, base: str, file: Path) -> Iterator[str | None]:
    """What changed in a riskguard.yaml and what it names; nothing if it cannot be read, which is said elsewhere.

    None where it cannot be read as it was at the base.
    """
    root, own = repository.root, file.relative_to(repository.root).as_posix()
    settings = _settings(_now(file, YAML_BYTES))
    if settings is None:
        return
    store, ledger = (_in(root, file.parent / str(name)) for name in (settings.get("store") or "baselines", _LEDGER))
    before, head = (repository.files(commit, filter(None, (own, store, ledger))) for commit in (base, "HEAD"))
    if own not in before:
        yield from [f"{own} added"] * (own in head)
        return
    others = {name: None for name in (*before, *head) if name == ledger or _is_manifest(name, store)}
    for name in (own, *others):
        limit = YAML_BYTES if name == own else MANIFEST_BYTES
        now, blob, old = _now(root / name, limit), before.get(name), None
        if blob is not None:
            if now is not None and blob.is_of(now):
                continue
            old = repository.content(blob, most=limit.value)
        baseline = clean(Path(name).parent.name)
        if name == own:
            earlier = _settings(old)
            yield from [None] if earlier is None else _of_settings(earlier, settings)
        elif name == ledger:
            looks, present = ({*(text or b"").splitlines()} for text in (old, now))
            for verb, some in (("removed from", looks - present), ("added to", present - looks)):
                yield from [f"{counted(len(some), 'look')} {verb} the ledger"] * bool(some)
        elif blob is None:
            yield f"baseline {baseline} added"
        elif now is None:
            yield f"baseline {baseline} removed"
        else:
            yield from _of_baseline(baseline, old or b"", now)


def _now(path: Path, limit: Limit) -> bytes | None:
    try:
        return read_limited(path, limit)
    except RiskguardError:
        return None


def _in(root: Path, path: Path) -> str | None:
    """The name of a path from the root of the repository; None outside it."""
    real = Path(os.path.realpath(path))
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else None


def _is_manifest(name: str, store: str | None) -> bool:
    path = Path(name)
    is_there = path.name == "manifest.json" and path.parent.parent.as_posix() == store
    return is_there and name_problem(path.parent.name) is None


def _settings(content: bytes | None) -> dict[str, Any] | None:
    """The settings as the file writes them; None if it is no YAML mapping. The schema would take longer to load."""
    try:
        data = yaml_lines.parse(content or b"").data
    except yaml_lines.YamlError:
        return None
    return data if isinstance(data, dict) else None


def _of_settings(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Removed gates first; that another candidate is judged is the point of most commits."""
    earlier, present = _flat(old), _flat(new)
    gates = [dict.fromkeys(key[0] for key in keys if key[0]) for keys in (earlier, present)]
    yield from (f"gate {gate} removed" for gate in gates[0] if gate not in gates[1])
    changed = dict(_differing(earlier, present))
    for (gate, key), values in sorted(changed.items(), key=lambda item: item[0][1].startswith("candidate")):
        if not gate:
            yield f"{key} {values}"
        elif gate in gates[0] and gate in gates[1]:
            yield f"{key} of {gate} {values}"
    yield from (f"gate {gate} added" for gate in gates[1] if gate not in gates[0])


def _of_baseline(name: str, before: bytes, now: bytes) -> Iterator[str]:
    try:
        changed = [key for (_, key), _ in _differing(_flat(json.loads(before)), _flat(json.loads(now)))]
    except ValueError:
        changed = [_RUN]
    if _RUN in changed:
        yield f"baseline {name} replaced"
    elif changed:
        yield f"baseline {name} changed ({', '.join(changed)})"


def _flat(data: Any, gate: str = "", prefix: str = "") -> dict[tuple[str, str], str]:
    """The values of nested mappings as text, by their gate, if any, and keys such as ``collection.topics.path``."""
    found: dict[tuple[str, str], str] = {}
    for key, value in data.items() if isinstance(data, dict) else ():
        path = f"{prefix}{key}"
        if isinstance(value, dict):
            found |= _flat(value, gate, f"{path}.")
        elif path == "gates" and isinstance(value, list):
            for place, one in enumerate(value):
                found |= _flat(one, clean(str(one.get("name", place) if isinstance(one, dict) else place)))
        else:
            texts = [json.dumps(one) if isinstance(one, dict | bool) else str(one) for one in _listed(value)]
            found[gate, path] = ", ".join(texts) or "none"
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _differing(
    old: Mapping[tuple[str, str], str], new: Mapping[tuple[str, str], str]
) -> Iterator[tuple[tuple[str, str], str]]:
    """The keys whose values differ, with both values."""
    for gate, key in dict.fromkeys([*old, *new]):
        before, now = (values.get((gate, key), "unset") for values in (old, new))
        if before != now:
            yield (gate, clean(key)), f"{clean(before, limit=60)} -> {clean(now, limit=60)}"
