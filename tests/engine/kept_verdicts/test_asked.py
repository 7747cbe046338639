"""The key of a verdict changes with everything that it depends on; where that cannot be said there is no key."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from pytest_riskguard import run_context
from pytest_riskguard.config.items import all_items
from pytest_riskguard.config.load import load_gates
from pytest_riskguard.engine.kept_verdicts import software
from pytest_riskguard.engine.kept_verdicts.asked import AskedGates, Key, NoKeyError, name_of
from pytest_riskguard.engine.kept_verdicts.asked_file import AskedFile
from pytest_riskguard.engine.sources import RunFile
from pytest_riskguard.evaluation import measures
from pytest_riskguard.evaluation.cache.known_measures import MEASURES
from pytest_riskguard.evaluation.measures import _registry
from pytest_riskguard.formats import input_files
from pytest_riskguard.formats.given_file import GivenFile
from pytest_riskguard.formats.input_files import Limit
from pytest_riskguard.gates.kinds import KINDS
from tests.engine.kept_verdicts.asked_project import COLLECTION, Judged, gate, settable, with_option, write_gates
from tests.plugin import world

#: Another value for each key of ``collection`` and of the whole file.
OF_COLLECTION: dict[str, Any] = {
    "qrels": {"path": "qrels.txt", "judges": "max"},
    "topics": {"path": "topics.tsv", "download": True},
    "documents": None,
    "document_url": "https://example.com/{id}",
    "shrink": 3,
    "grades": {"scale": [0, 1]},
    "relevant_from": 1,
    "chunks": {"separator": "#"},
    "unjudged_relevance": 0.2,
    "strata": {"head": 0.6, "tail": 0.4},
    "judgements": "complete",
}
OF_FILE: dict[str, Any] = {
    "store": "elsewhere",
    "measures": ["AP", "RR"],
    "candidate": {"run": "candidate.run", "metadata": {"index": "v7"}},
    "budget": {"looks": 5, "ledger": "newer.run"},
    "convention": "minus",
    "family": "holm",
    "require": 1,
    "on_changed_inputs": "fail",
}
SWITCHES = [limit.variable for limit in vars(input_files).values() if isinstance(limit, Limit)]


def key(folder: Path, cache: Any, place: int = 0, **options: Any) -> Key:
    config = load_gates(folder / "riskguard.yaml")
    asked, item = AskedGates(AskedFile.of(config), **{"report": False, **options}), all_items(config)[place].id
    asked.look(item)
    return asked.key(item, cache)


@pytest.fixture
def folder(project, at_rest, monkeypatch) -> Path:
    software.software_digest.cache_clear()
    found: Path = project("loss")
    shutil.copytree(found / "baselines", found / "elsewhere")
    write_gates(found, [gate("not_significantly_risky"), gate("georisk_not_worse") | {"name": "pool"}])
    return found


def files_of(folder: Path, *parts: str) -> list[Path]:
    found = [path for part in parts for path in (folder / "baselines" / part).rglob("*") if path.is_file()]
    return [*(folder / name for name in ("qrels.txt", "topics.tsv", "documents.jsonl", "candidate.run")), *found]


def test_the_same_question_has_the_same_key(folder, cache):
    assert key(folder, cache) == key(folder, cache)
    assert name_of(key(folder, cache)) == name_of(json.loads(json.dumps(key(folder, cache))))
    assert name_of(key(folder, cache)) != name_of(key(folder, cache, 1))
    assert name_of(key(folder, cache)) != name_of(key(folder, cache, report=True))


@pytest.mark.parametrize("place", [0, 1])
def test_one_byte_of_any_file_changes_the_key(folder, cache, place):
    """Also if the size and the time of the last change stay what they were."""
    read = files_of(folder, "prod", *(("second", "third") if place else ()))
    assert place == 0 or {path.parent.name for path in read} >= {"1", "0001", "third"}
    before = key(folder, cache, place)
    for path in read:
        content, status = path.read_bytes(), path.stat()
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert key(folder, cache, place) != before, path
        path.write_bytes(content)
        assert key(folder, cache, place) == before


def test_a_file_more_or_less_in_a_baseline_changes_the_key(folder, cache):
    before = key(folder, cache)
    extra = folder / "baselines" / "prod" / "note.txt"
    extra.write_text("x")
    assert key(folder, cache) != before
    extra.unlink()
    (folder / "baselines" / "prod" / "queries.tsv").unlink()
    assert key(folder, cache) != before


def test_a_baseline_of_another_gate_does_not_change_the_key(folder, cache):
    before = key(folder, cache), key(folder, cache, 1)
    (folder / "baselines" / "second" / "note.txt").write_text("x")
    assert key(folder, cache) == before[0]
    assert key(folder, cache, 1) != before[1]


@pytest.mark.parametrize("kind", KINDS)
def test_each_option_of_a_gate_changes_the_key(folder, cache, kind):
    write_gates(folder, [gate(kind)])
    before, found = key(folder, cache), []
    for option in settable(kind):
        write_gates(folder, [gate(kind, **with_option(kind, option))])
        found.append(name_of(key(folder, cache)))
    assert name_of(before) not in found
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("setting", [*OF_COLLECTION, *OF_FILE])
def test_each_setting_of_the_file_changes_the_key(folder, cache, setting):
    before = key(folder, cache)
    if setting in OF_COLLECTION:
        collection = {**COLLECTION, setting: OF_COLLECTION[setting]}
        changed = {"collection": {name: value for name, value in collection.items() if value is not None}}
    else:
        changed = {setting: OF_FILE[setting]}
    write_gates(folder, [gate("not_significantly_risky"), gate("georisk_not_worse") | {"name": "pool"}], **changed)
    assert key(folder, cache) != before


def test_the_tables_of_settings_are_complete(folder):
    config = load_gates(folder / "riskguard.yaml")
    assert set(OF_COLLECTION) == set(type(config.collection).model_fields)
    assert {*OF_FILE, "collection", "gates", "retrieve_from"} == set(type(config).model_fields)


def test_comments_and_the_order_of_keys_do_not_change_the_key(folder, cache):
    before = key(folder, cache)
    path = folder / "riskguard.yaml"
    content = json.loads(path.read_text())
    path.write_text("# a comment\n" + json.dumps(dict(reversed(content.items()))))
    assert name_of(key(folder, cache)) == name_of(before)


def test_a_project_in_another_folder_has_other_keys(folder, cache):
    shutil.copytree(folder, folder.parent / "copy")
    assert key(folder.parent / "copy", cache) != key(folder, cache)


@pytest.mark.parametrize("name", [*SWITCHES, "RISKGUARD_KERNELS", "RISKGUARD_ANYTHING"])
def test_each_switch_of_the_environment_changes_the_key(folder, cache, monkeypatch, name):
    before = key(folder, cache)
    monkeypatch.setenv(name, "987654321")
    assert key(folder, cache) != before


@pytest.mark.parametrize("change", ["code", "new module", "library", "version", "python", "processor"])
def test_other_software_changes_the_key(folder, cache, monkeypatch, tmp_path, change):
    before = key(folder, cache)
    software.software_digest.cache_clear()
    package = tmp_path / "package"
    shutil.copytree(software._PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(software, "_PACKAGE", package)
    assert key(folder, cache) == before
    software.software_digest.cache_clear()
    if change == "code":
        module = package / "inference" / "intervals.py"
        module.write_bytes(module.read_bytes() + b"\n")
    elif change == "new module":
        (package / "risk" / "another.py").write_text("")
    elif change == "library":
        (tmp_path / "somewhere" / "numpy-99.0.dist-info").mkdir(parents=True)
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "somewhere")])
    elif change == "version":
        monkeypatch.setattr(software, "__version__", "99.0")
    elif change == "python":
        monkeypatch.setattr(sys, "version", "4.0")
    else:
        monkeypatch.setattr("platform.machine", lambda: "abacus")
    assert key(folder, cache) != before
    software.software_digest.cache_clear()


def test_measures_are_those_of_ir_measures():
    assert set(_registry()) == MEASURES
    assert str(ir_measures.nDCG @ 10).partition("@")[0] in MEASURES


def no_key(folder: Path, cache: Any, **options: Any) -> str:
    with pytest.raises(NoKeyError) as error:
        key(folder, cache, **options)
    return str(error.value)


@pytest.mark.parametrize("candidate", [{"retrieve": "package.module:function"}, {"command": ["search", "{query}"]}])
def test_a_live_candidate_has_no_key(folder, cache, candidate):
    write_gates(folder, [gate("not_significantly_risky")], candidate=candidate)
    assert "live system" in no_key(folder, cache)


def test_a_live_candidate_of_one_gate_leaves_its_family_without_keys(folder, cache):
    live = gate("not_significantly_risky", candidate={"command": ["search", "{query}"]}) | {"name": "live"}
    gates = [gate("not_significantly_risky"), live]
    write_gates(folder, gates)
    assert key(folder, cache)
    write_gates(folder, gates, family="holm")
    assert "live system" in no_key(folder, cache)


def test_a_measure_of_the_project_has_no_key(folder, cache):
    write_gates(folder, [gate("not_significantly_risky")], measures=["Clicks@10"])
    assert "Clicks@10 may be a measure of the project" in no_key(folder, cache)


def test_a_measure_that_a_project_computes_by_itself_has_no_key(folder, cache, monkeypatch):
    """As where a conftest.py puts a provider before those of ir-measures."""
    assert key(folder, cache)
    own = type("Own", (), {"__module__": "conftest", "NAME": "own", "supports": lambda *_: True})()
    own.is_available = lambda: True
    monkeypatch.setattr(measures, "_pipeline", lambda: (own,))
    assert "AP may be a measure of the project" in no_key(folder, cache)


def test_a_run_on_a_cluster_has_no_key(folder, cache):
    with run_context.changed(scheduler="tcp://127.0.0.1:1"):
        assert "cluster" in no_key(folder, cache)


def test_what_is_said_about_another_candidate_changes_the_key(folder, cache):
    run = folder / "other.run"
    world.write_run(run, world.GOOD)
    described = [
        RunFile(run),
        RunFile(run, "named"),
        RunFile(run, metadata={"index": "v7"}),
        RunFile(folder / "candidate.run"),
    ]
    described.append(RunFile(run, given=GivenFile(run, ties="as_returned")))
    names = {name_of(key(folder, cache, candidate=one)) for one in described}
    assert len({*names, name_of(key(folder, cache))}) == len(described) + 1


def test_a_run_that_may_be_compared_with_itself_has_no_key(folder, cache):
    """A copy of a file may be replaced by a link to that file, which is refused when a gate is judged."""
    shutil.copyfile(folder / "candidate.run", folder / "copy.run")
    assert "two files are the same" in no_key(folder, cache, runs={"prod": RunFile(folder / "copy.run", "prod")})


@pytest.mark.parametrize("name", ["candidate.run", "qrels.txt", "topics.tsv", "documents.jsonl"])
def test_what_is_missing_or_no_regular_file_has_no_key(folder, cache, name):
    path = folder / name
    config = load_gates(folder / "riskguard.yaml")
    for replaced in (lambda: None, path.mkdir):
        if path.is_file():
            path.unlink()
        replaced()
        with pytest.raises(NoKeyError):
            AskedGates(AskedFile.of(config), report=False).key(all_items(config)[0].id, cache)


def test_a_baseline_that_is_missing_or_has_links_has_no_key(folder, cache):
    config = load_gates(folder / "riskguard.yaml")
    store, gates = folder / "baselines", AskedGates(AskedFile.of(config), report=False)
    kept = (store / "prod" / "scores.tsv").rename(folder / "kept.tsv")
    (store / "prod" / "scores.tsv").symlink_to(kept)
    with pytest.raises(NoKeyError, match="link"):
        gates.key(all_items(config)[0].id, cache)
    (store / "prod").rename(folder / "prod")
    with pytest.raises(NoKeyError, match="prod is not stored here"):
        gates.key(all_items(config)[0].id, cache)
    (store / "prod").symlink_to(folder / "prod", target_is_directory=True)
    with pytest.raises(NoKeyError, match="prod is not stored here"):
        gates.key(all_items(config)[0].id, cache)


def test_a_store_at_an_address_has_no_key(folder, cache):
    pinned = f"memory://store/baselines#sha256:{'0' * 64}"
    write_gates(folder, [gate("not_significantly_risky")], store=pinned)
    assert "address" in no_key(folder, cache)


@pytest.mark.parametrize("name", ["candidate.run", "qrels.txt", "baselines/prod/scores.tsv"])
def test_a_file_that_changed_just_now_has_no_key_until_it_has_rested(project, cache, monkeypatch, name):
    folder = project("loss")
    write_gates(folder, [gate("not_significantly_risky")])
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10**10)
    assert key(folder, cache)
    later = now() + 10**10
    os.utime(folder / name, ns=(later, later))
    assert "changed just now" in no_key(folder, cache)
    assert Judged(folder).verdicts()
    monkeypatch.setattr(time, "time_ns", lambda: now() + 2 * 10**10)
    assert key(folder, cache)
