"""What a riskguard.yaml asks comes from the cache for the bytes that were checked, and for no others."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from typing import Any

import pytest

from pytest_riskguard import run_context
from pytest_riskguard.config.items import all_items, family_of, judged_together
from pytest_riskguard.config.load import load_gates
from pytest_riskguard.engine.kept_verdicts import asked_file
from pytest_riskguard.engine.kept_verdicts.asked_file import AskedFile, keep_file, kept_file
from pytest_riskguard.evaluation import measures
from pytest_riskguard.evaluation.cache.cache_folder import SIZE
from tests.engine.kept_verdicts.asked_project import COLLECTION, gate, write_gates

RISKY = gate("not_significantly_risky")
SEVERAL = [
    {**RISKY, "name": "a", "measure": ["AP", "RR"], "alpha": [1, 2.5]},
    {**RISKY, "name": "b", "baseline": None, "baselines": ["prod", "second"], "alpha": [1, 2]},
    {**gate("not_inferior"), "name": "c", "baseline": None, "baselines": ["prod", "second"]},
    {**gate("georisk_not_worse"), "name": "d", "candidate": "other.run", "alpha": [0, 1]},
]


def write(folder, gates=SEVERAL, **settings: Any):
    given = [{key: value for key, value in one.items() if value is not None} for one in gates]
    write_gates(folder, given, **settings)
    path = folder / "riskguard.yaml"
    return path, path.read_bytes()


def kept(path, content):
    keep_file(AskedFile.of(load_gates(path)), content)
    return kept_file(path, content)


@pytest.mark.parametrize("family", [None, "holm", {"correction": "benjamini_hochberg", "gates": ["a", "b"]}])
def test_items_that_are_judged_together_share_a_number(tmp_path, family):
    config = load_gates(write(tmp_path, **({} if family is None else {"family": family}))[0])
    numbered, groups = judged_together(config), defaultdict(list)
    assert [item for item, _ in numbered] == [*all_items(config)]
    for item, number in numbered:
        groups[number].append(item)
    for item, number in numbered:
        assert tuple(groups[number]) == (family_of(config, item)[1] or (item,))
    lines = {item.id: config.line_of(item.settings) for item in all_items(config)}
    assert {item.id: item.line for item in AskedFile.of(config).items} == lines


def test_what_is_kept_is_what_was_asked(tmp_path, cache):
    qrels = {"path": "qrels.txt", "judges": "max"}
    path, content = write(tmp_path, require="all", family="holm", collection={**COLLECTION, "qrels": qrels})
    assert kept_file(path, content) is None
    assert kept(path, content) == AskedFile.of(load_gates(path))


def test_other_bytes_another_place_other_switches_and_other_software_ask_anew(tmp_path, cache, monkeypatch):
    path, content = write(tmp_path)
    assert kept(path, content)
    for place in range(0, len(content), 7):
        assert kept_file(path, content[:place] + b"~" + content[place + 1 :]) is None
    assert kept_file(tmp_path / "other" / "riskguard.yaml", content) is None
    with run_context.changed(cached=False):
        assert kept_file(path, content) is None
    with monkeypatch.context() as changed:
        changed.setenv("RISKGUARD_MAX_GATES", "1")
        assert kept_file(path, content) is None
    with monkeypatch.context() as changed:
        changed.setattr(asked_file, "software_digest", lambda: "other")
        assert kept_file(path, content) is None
    assert kept_file(path, content)


@pytest.mark.parametrize("damage", [b"", b"x", b"riskguard-settings/1 a b\n{}"])
def test_damaged_entries_are_not_read(tmp_path, cache, damage):
    path, content = write(tmp_path)
    assert kept(path, content)
    (entry,) = cache.entries()
    whole = entry.path.read_bytes()
    for changed in (damage, whole[:-1], whole.replace(b"candidate.run", b"candidate.ran"), b"\xff" + whole):
        entry.path.write_bytes(changed)
        assert kept_file(path, content) is None


def test_a_file_whose_items_depend_on_more_than_its_bytes_is_not_kept(cache, project):
    sliced, asked = {**RISKY, "slice": "kind=other"}, {"retrieve": "package.module:function"}
    for gates in ([sliced], [{**RISKY, "candidate": asked}]):
        assert kept(*write(project("loss") if gates == [sliced] else cache.root.parent, gates)) is None
    assert cache.entries() == []


@pytest.mark.parametrize("key", ["candidate", "qrels", "topics"])
@pytest.mark.parametrize("form", ["file", "part"])
def test_a_name_that_other_files_explain_is_looked_up_each_time(tmp_path, cache, key, form):
    """``FILE#PART`` is a part of FILE until there is a file of the whole name."""
    (tmp_path / ("a#b" if form == "file" else "a")).touch()
    settings = {"candidate": "a#b"} if key == "candidate" else {"collection": {**COLLECTION, key: "a#b"}}
    path, content = write(tmp_path, **settings)
    found = AskedFile.of(load_gates(path))
    assert kept(path, content) is None
    (tmp_path / ("a" if form == "file" else "a#b")).touch()
    (tmp_path / "a#b").unlink() if form == "file" else (tmp_path / "a").unlink()
    assert AskedFile.of(load_gates(path)) != found


def test_a_file_whose_measures_a_project_may_define_is_checked_each_time(tmp_path, cache, monkeypatch):
    """Whether a gate on them can fail depends on how far their scores lie apart, which the project says."""
    assert kept(*write(tmp_path, [{**RISKY, "measure": "Clicks@10"}])) is None
    assert cache.entries() == []
    path, content = write(tmp_path)
    assert kept(path, content)
    provider = measures.provider_of(measures.parse_measure("AP"))
    own = type("Own", (type(provider),), {"__module__": "conftest"})()
    monkeypatch.setattr(measures, "_pipeline", lambda: (own,))
    assert kept_file(path, content) is None


def test_a_number_that_cannot_be_written_in_digits_is_not_kept(tmp_path, cache):
    path, content = write(tmp_path, collection={**COLLECTION, "shrink": 12345})
    content = content.replace(b"12345", b"0x" + 4000 * b"f")
    path.write_bytes(content)
    assert kept(path, content) is None


def test_a_wrong_size_of_the_cache_is_no_error_of_the_file(tmp_path, cache, monkeypatch):
    path, content = write(tmp_path)
    monkeypatch.setenv(SIZE.variable, "much")
    assert kept(path, content) is None
    monkeypatch.delenv(SIZE.variable)
    assert kept(path, content)
    monkeypatch.setattr(asked_file, "switches", dict)  # the entry is there
    assert kept(path, content)
    monkeypatch.setenv(SIZE.variable, "much")
    assert kept_file(path, content) is None


def test_what_is_kept_of_files_that_are_edited_has_a_limit(tmp_path, cache, monkeypatch):
    monkeypatch.setenv(SIZE.variable, "20000")
    for number in range(8):
        assert kept(*write(tmp_path, collection={**COLLECTION, "shrink": number}))
    assert sum(entry.size for entry in cache.entries()) <= SIZE.value


def test_a_candidate_that_has_become_a_stored_file_is_checked_again(cache, project):
    folder = project("loss")
    path, content = write(folder, [RISKY])
    assert kept(path, content)
    (folder / "candidate.run").unlink()
    os.link(folder / "baselines" / "prod" / "run.gz", folder / "candidate.run")
    assert kept_file(path, content) is None


def test_a_kept_file_is_read_without_waiting_for_it_to_rest(tmp_path, cache):
    """Its bytes are the key, whatever its times say."""
    path, content = write(tmp_path)
    assert kept(path, content)
    os.utime(path, ns=(time.time_ns(), time.time_ns()))
    assert kept_file(path, content)
