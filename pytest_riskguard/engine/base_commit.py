"""What the judged commit changed about how it is judged, found by a comparison with the commit that it is based on.

The riskguard.yaml, the manifests of its store in the work tree are compared, key by key, with
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
from pytest_riskguard.build import Base, build_of_ci
from pytest_riskguard.config import yaml_lines
from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.errors import RiskguardError
from pytest_riskguard.limits import MANIFEST_BYTES, YAML_BYTES, Limit
from pytest_riskguard.text import clean, counted

#: Changes that a line says; the others are counted.
_MOST_SAID = 6
_MANIFEST = "manifest.json"
_LACKING = (
    "what this pull request changed of gates and baselines is not known: the clone does not have the commit "
    "that it is based on; check out the whole history (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab)"
)
#: The values of a file as text, by gate, empty outside gates, and key such as ``collection.topics``, empty for the
#: gate itself.
Facts = dict[tuple[str, str], str]


def policy_changes(files: Iterable[Path]) -> tuple[str, ...]:
    """What the judged commit changed about these riskguard.yaml, in one or two lines of plain text.

    None if nothing, or where git cannot say; in a pull request whose base the clone lacks, that is said.
    """
    build = build_of_ci()
    pull = None if build is None else build.base
    changes, unknown = list[tuple[str, str]](), dict[str, None]()
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
                changes.append((name, text))
    lines = [clean("; ".join(unknown), limit=400)] if unknown else []
    if changes:
        several = len({name for name, _ in changes}) > 1
        said = [clean(f"{name}: {text}" if several else text) for name, text in changes[:_MOST_SAID]]
        if rest := len(changes) - len(said):
            said.append(counted(rest, "more change"))
        lines.insert(0, f"changed by this {'commit' if pull is None else 'pull request'}: {'; '.join(said)}")
    return tuple(lines)


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
    root = repository.root
    present = _settings(_now(file, YAML_BYTES))
    if present is None:
        return
    paths = file, file.parent / str(present.get("store") or "baselines")
    own, store = (os.path.relpath(os.path.realpath(path), root).replace(os.sep, "/") for path in paths)
    inside = [name for name in (own, store) if not name.startswith("..")]
    before, head = (repository.files(commit, inside) for commit in (base, "HEAD"))
    if own not in before:
        yield from [f"{own} added"] * (own in head)
        return
    for name in dict.fromkeys((own, *before, *head)):
        folder, _, last = name.rpartition("/")
        is_manifest = last == _MANIFEST and store == (os.path.dirname(folder) or ".")  # noqa: PTH120 - of git
        if name != own and not is_manifest:
            continue
        limit = YAML_BYTES if name == own else MANIFEST_BYTES
        now, blob, old = _now(root / name, limit), before.get(name), None
        if blob is not None:
            if now is not None and blob.is_of(now):
                continue
            old = repository.content(blob, most=limit.value)
        if name == own:
            earlier = _settings(old)
            yield from [None] if earlier is None else _of_settings(_facts(earlier), _facts(present))
        elif what := "added" if blob is None else _of_manifest(old or b"", now):
            yield f"baseline {clean(os.path.basename(folder))} {what}"  # noqa: PTH119 - of git


def _now(path: Path, limit: Limit) -> bytes | None:
    try:
        return read_limited(path, limit)
    except RiskguardError:
        return None


def _settings(content: bytes | None) -> dict[str, Any] | None:
    """The settings as the file writes them; None if it is no YAML mapping. The schema would take longer to load."""
    try:
        data = yaml_lines.parse(content or b"").data
    except yaml_lines.YamlError:
        return None
    return data if isinstance(data, dict) else None


def _of_settings(old: Facts, new: Facts) -> Iterator[str]:
    """Removed gates first; that another candidate is judged is the point of most commits."""
    earlier, later = ({gate: None for gate, key in facts if not key} for facts in (old, new))
    removed, added = earlier.keys() - later.keys(), later.keys() - earlier.keys()
    yield from (f"gate {gate} removed" for gate in earlier if gate in removed)
    for (gate, key), values in sorted(_differing(old, new), key=lambda item: item[0][1].startswith("candidate")):
        if gate not in removed | added:
            yield f"{key} of {gate} {values}" if gate else f"{key} {values}"
    yield from (f"gate {gate} added" for gate in later if gate in added)


def _of_manifest(old: bytes, now: bytes | None) -> str | None:
    """What became of a baseline; None if its manifest is only laid out anew."""
    if now is None:
        return "removed"
    try:
        changed = [key for (_, key), _ in _differing(*(_facts(json.loads(text)) for text in (old, now)))]
    except ValueError:
        return "replaced"
    if "digests.run" in changed:
        return "replaced"
    return f"changed ({', '.join(changed)})" if changed else None


def _facts(data: Any, gate: str = "", prefix: str = "") -> Facts:
    found: Facts = {}
    for key, value in data.items() if isinstance(data, dict) else ():
        path = f"{prefix}{key}"
        if isinstance(value, dict):
            found |= _facts(value, gate, f"{path}.")
        elif path == "gates" and isinstance(value, list):
            for place, one in enumerate(value):
                name = clean(str(one.get("name", place) if isinstance(one, dict) else place))
                found |= {(name, ""): ""} | _facts(one, name)
        else:
            values = value if isinstance(value, list) else [value]
            texts = (json.dumps(one) if isinstance(one, dict | bool) else str(one) for one in values)
            found[gate, clean(path)] = clean(", ".join(texts) or "none", limit=60)
    return found


def _differing(old: Mapping[Any, str], new: Mapping[Any, str]) -> Iterator[tuple[tuple[str, str], str]]:
    """The keys whose values differ, with both values."""
    for key in dict.fromkeys([*old, *new]):
        before, now = (values.get(key, "unset") for values in (old, new))
        if before != now:
            yield key, f"{before} -> {now}"
