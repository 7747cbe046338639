"""What the judged commit changed about how it is judged, found by a comparison with the commit that it is based on.

The riskguard.yaml and the manifests of its store in the work tree are compared, key by key, with what git has of them
at the base: the merge base with the branch that a pull request goes to, else the first parent of HEAD. What is not
committed at all, such as a store kept outside git, is nobody's change. Git only reads, see ``baselines.git``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from json import dumps, loads
from pathlib import Path, PurePosixPath
from typing import Any

from pytest_riskguard.baselines.git import Repository
from pytest_riskguard.build import Base, build_of_ci
from pytest_riskguard.config import yaml_lines
from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.errors import RiskguardError
from pytest_riskguard.limits import MANIFEST_BYTES
from pytest_riskguard.text import clean, counted

#: Changes that a line says; the others are counted.
_MOST_SAID = 6
_LACKING = (
    "what this pull request changed about gates and baselines is not known: the clone does not have the commit that "
    "it is based on; check out the whole history (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab)"
)
#: The values of a file as text, by gate, empty outside gates, and key such as ``collection.topics``, empty for the
#: gate itself.
Facts = dict[tuple[str, str], str]


def policy_changes(files: Iterable[Path]) -> tuple[str, ...]:
    """What the judged commit changed about these riskguard.yaml, in one or two lines of plain text.

    No line if nothing, or where git cannot say; in a pull request whose base the clone lacks, that is said.
    """
    build = build_of_ci()
    pull = None if build is None else build.base
    changes, lines = list[str](), list[str]()
    paths = list(dict.fromkeys(Path(os.path.realpath(path)) for path in files))
    for file in paths:
        if (repository := Repository.around(file.parent)) is None:
            continue
        if (base := _base(repository, pull)) is not None:
            name = file.relative_to(repository.root).as_posix()
            found = _changes(repository, base, file)
            changes += [clean(f"{name}: {text}" if len(paths) > 1 else text) for text in found]
        elif pull is not None:
            lines = [_LACKING]
    if (rest := len(changes) - _MOST_SAID) > 0:
        changes[_MOST_SAID:] = [counted(rest, "more change")]
    if changes:
        what = "commit" if pull is None else "pull request"
        lines.insert(0, f"changed by this {what}: {'; '.join(changes)}")
    return tuple(lines)


def _base(repository: Repository, pull: Base | None) -> str | None:
    """The commit to compare with; None if the clone does not have it."""
    head, *parents = repository.head() or ("",)
    if pull is None or (head == pull.merge and len(parents) == 2):
        return parents[0] if parents else None
    branch = f"refs/remotes/origin/{pull.branch}" if pull.branch else None
    return next(filter(None, map(repository.merge_base, filter(None, (branch, pull.commit)))), None)


def _changes(repository: Repository, base: str, file: Path) -> Iterator[str]:
    """What changed in a riskguard.yaml and its store; nothing if it cannot be read, which is said elsewhere."""
    root = repository.root
    now = _parsed(_content(file))
    if now is None:
        return
    paths = file, file.parent / str(now.get("store") or "baselines")
    own, store = (os.path.relpath(os.path.realpath(path), root).replace(os.sep, "/") for path in paths)
    inside = [name for name in (own, store) if not name.startswith("..")]
    before, head = (repository.files(commit, inside) for commit in (base, "HEAD"))
    if own not in before:
        if own in head:
            yield f"{file.name} added"
        return
    if (old := _parsed(repository.content(base, own))) is None:
        yield f"{file.name}, which could not be read before"
    else:
        yield from _of_settings(_facts(old), _facts(now))
    for name in dict.fromkeys((*before, *head)):
        folder = PurePosixPath(name).parent
        if not name.endswith("/manifest.json") or folder.parent != PurePosixPath(store):
            continue
        if name not in before:
            yield f"baseline {clean(folder.name)} added"
        elif what := _of_manifest(repository.content(base, name), _content(root / name)):
            yield f"baseline {clean(folder.name)} {what}"


def _content(path: Path) -> bytes | None:
    try:
        return read_limited(path, MANIFEST_BYTES)
    except RiskguardError:
        return None


def _parsed(content: bytes | None) -> dict[str, Any] | None:
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


def _of_manifest(old: bytes | None, now: bytes | None) -> str:
    """What became of a baseline; empty if its manifest is only laid out anew."""
    if now is None:
        return "removed"
    try:
        changed = [key for (_, key), _ in _differing(*(_facts(loads(text or b"")) for text in (old, now)))]
    except ValueError:
        return "replaced"
    if "digests.run" in changed:
        return "replaced"
    return f"changed ({', '.join(changed)})" if changed else ""


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
            texts = (dumps(one) if isinstance(one, dict | bool) else str(one) for one in values)
            found[gate, clean(path)] = clean(", ".join(texts) or "none", limit=60)
    return found


def _differing(old: Mapping[Any, str], new: Mapping[Any, str]) -> Iterator[tuple[tuple[str, str], str]]:
    """The keys whose values differ, with both values."""
    for key in dict.fromkeys([*old, *new]):
        before, now = (values.get(key, "unset") for values in (old, new))
        if before != now:
            yield key, f"{before} -> {now}"
