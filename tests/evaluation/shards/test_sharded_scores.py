"""Pieces of a run, put together, are what one process reads; pieces that do not belong together are refused."""

from __future__ import annotations

import gzip
import os
import random
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import fields, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pytest_riskguard.errors import DataError, RunFormatError, UsageError
from pytest_riskguard.evaluation import read_qrels
from pytest_riskguard.evaluation.array_files import decoded, encoded
from pytest_riskguard.evaluation.runs.rank_columns import KINDS
from pytest_riskguard.evaluation.runs.run_folders import PART, digest_of
from pytest_riskguard.evaluation.scoring.run_parts import ScoredRun
from pytest_riskguard.evaluation.scoring.run_scores import scored_run
from pytest_riskguard.evaluation.shards.merging import merged, scored_part
from pytest_riskguard.evaluation.shards.part_files import Origin, Part, content_of, read_content
from pytest_riskguard.evaluation.shards.shard_plan import Division, Shard, division_of, shards_of
from pytest_riskguard.evaluation.shards.shard_reading import Asked, read_shard
from pytest_riskguard.evaluation.shards.sharded_scores import score_shards
from pytest_riskguard.formats.given_file import GivenFile
from tests.evaluation.shards import generated
from tests.evaluation.shards.generated import MEASURES


class InThisProcess(Executor):
    """Does the last piece first."""

    def __init__(self) -> None:
        self.given: list[tuple[Future[Any], Any, Any]] = []

    def submit(self, work, /, *arguments, **_):
        future: Future[Any] = Future()
        try:
            future.set_result(work(*arguments))
        except Exception as problem:
            future.set_exception(problem)
        return future


def same(one: ScoredRun, other: ScoredRun, *, but: tuple[str, ...] = ()) -> None:
    """Every field of scores and of what was kept is equal."""
    assert len(one.scores) == len(other.scores)
    for first, second in zip(one.scores, other.scores, strict=True):
        for field in fields(first):
            if field.name not in but:
                values = getattr(first, field.name), getattr(second, field.name)
                assert np.array_equal(*values) if field.name == "values" else values[0] == values[1], field.name
    for field in fields(one.run):
        values = getattr(one.run, field.name), getattr(other.run, field.name)
        if field.name == "unjudged":
            assert values[0].strings() == values[1].strings()
        elif field.name == "ranks":
            for order in values[0]:
                assert_array_equal(values[0][order], values[1][order])
        elif field.name not in but:
            assert_array_equal(*values, err_msg=field.name) if field.name in ARRAYS else None
            assert field.name in ARRAYS or values[0] == values[1], field.name


ARRAYS = ("retrieved", "offsets", "judgements")


@pytest.fixture
def world(tmp_path):
    run, qrels = generated.written(tmp_path)
    return run, read_qrels(qrels)


def parts_of(run: Path, qrels: Any, count: int, **given: Any) -> list[Part]:
    asked = Asked.of(GivenFile(run), qrels, MEASURES)
    return [read_shard(shard, asked) for shard in shards_of(run, count, **given)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 200])
@pytest.mark.parametrize("by", ["bytes", "topics"])
def test_pieces_of_a_file_are_the_whole(world, count, by):
    run, qrels = world
    expected = scored_run(run, qrels, MEASURES)
    found = score_shards(shards_of(run, count, by), qrels, MEASURES, executor=InThisProcess())
    same(found, expected)


def test_pieces_that_this_process_reads_are_not_encoded(world, monkeypatch):
    run, qrels = world
    expected = scored_run(run, qrels, MEASURES)
    monkeypatch.setattr("pytest_riskguard.evaluation.shards.sharded_scores.content_of", None)
    same(score_shards(shards_of(run, 3), qrels, MEASURES, executor=InThisProcess()), expected)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_topic_that_begins_where_a_piece_ends_is_in_one_piece(tmp_path, count):
    (tmp_path / "cand.run").write_text("".join(f"{topic} Q0 d{topic} 1 1.5 tag\n" for topic in range(count)))
    qrels = read_qrels({str(topic): {f"d{topic}": 1} for topic in range(count)})
    asked = Asked.of(GivenFile(tmp_path / "cand.run"), qrels, MEASURES)
    parts = [read_shard(shard, asked) for shard in shards_of(tmp_path / "cand.run", count)]
    assert [part.kept.places.tolist() for part in parts] == [[place] for place in range(count)]


def test_a_run_that_changes_while_its_pieces_are_read_is_refused(world):
    run, qrels = world

    class Rewriting(InThisProcess):
        def submit(self, work, /, *arguments, **more):
            future = super().submit(work, *arguments, **more)
            os.utime(run, (1, 1))
            return future

    with pytest.raises(DataError, match="changed while it was read; try again") as raised:
        score_shards(shards_of(run, 2), qrels, MEASURES, executor=Rewriting())
    assert raised.value.reason == "inputs_changed"


@pytest.mark.parametrize("count", [1, 3])
def test_a_gzip_file_is_divided_by_topics(world, count):
    run, qrels = world
    packed = run.with_name("cand.run.gz")
    packed.write_bytes(gzip.compress(run.read_bytes()))
    assert division_of(packed) == "topics"
    same(
        score_shards(shards_of(packed, count), qrels, MEASURES, executor=InThisProcess()),
        scored_run(run, qrels, MEASURES),
    )


def test_interleaved_topics_are_divided_by_topics_and_bytes_refuse_them(world):
    run, qrels = world
    lines = run.read_text().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    run.write_text("".join(lines))
    expected = scored_run(run, qrels, MEASURES)
    same(score_shards(shards_of(run, 3, "topics"), qrels, MEASURES, executor=InThisProcess()), expected)
    with pytest.raises(DataError, match=r"cand\.run: expected the rows of each topic together.*--by topics"):
        score_shards(shards_of(run, 3), qrels, MEASURES, executor=InThisProcess())


def test_topics_that_begin_again_in_another_piece_are_found_when_pieces_meet(world):
    run, qrels = world
    rows = run.read_text().splitlines(keepends=True)
    run.write_text("".join([*rows[1:], rows[0]]))  # each piece alone is in order
    with pytest.raises(DataError, match="expected the rows of each topic together"):
        score_shards(shards_of(run, 2), qrels, MEASURES, executor=InThisProcess())


def in_files(run: Path, folder: Path, count: int, *, packed: bool = False) -> Path:
    """The topics of a run in several files."""
    folder.mkdir()
    parts: list[list[str]] = [[] for _ in range(count)]
    topics: dict[str, int] = {}
    for line in run.read_text().splitlines(keepends=True):
        place = topics.setdefault(line.split()[0], len(topics) % count)
        parts[place].append(line)
    for number, rows in enumerate(parts):
        text = "".join(rows).encode()
        name = f"part-{number}.run" + (".gz" if packed else "")
        (folder / name).write_bytes(gzip.compress(text) if packed else text)
    (folder / "_SUCCESS").touch()
    return folder


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("count", [1, 3, 5])
def test_the_files_of_a_folder_are_the_whole(world, tmp_path, packed, count):
    run, qrels = world
    folder = in_files(run, tmp_path / "cand", 5, packed=packed)
    found = score_shards(shards_of(folder, count), qrels, MEASURES, executor=InThisProcess())
    same(found, scored_run(run, qrels, MEASURES), but=("digest",))
    parts = [scored_run(file, qrels, MEASURES).run.digest for file in sorted(folder.glob("part*"))]
    assert found.run.digest == found.scores[0].digest == digest_of(parts)


def test_the_order_of_ties_that_counted_comes_back(world, tmp_path):
    run, qrels = world
    folder = in_files(run, tmp_path / "cand", 3)
    shards = shards_of(folder, 2)
    for ties in ("as_returned", "docid"):
        given = GivenFile(folder, ties=ties)
        found = score_shards(shards, qrels, MEASURES, executor=InThisProcess(), given=given)
        assert found.ties == ties


def test_the_files_of_a_folder_at_an_address(world, tmp_path):
    run, qrels = world
    folder = in_files(run, tmp_path / "cand", 2)
    files = fsspec.filesystem("memory")
    try:
        for file in folder.iterdir():
            files.pipe(f"/bucket/cand/{file.name}", file.read_bytes())
        remote, local = (
            score_shards(shards_of(place, 2), qrels, MEASURES, executor=InThisProcess())
            for place in (Path("memory://bucket/cand"), folder)
        )
    finally:
        files.rm("/bucket", recursive=True)
    same(remote, local)


def test_parts_in_parquet_are_as_one_file_of_them(world, tmp_path):
    run, qrels = world
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    folder = in_files(run, tmp_path / "cand", 3)
    tables = []
    for file in sorted(folder.glob("part*")):
        rows = [line.split() for line in file.read_text().splitlines()]
        columns: dict[str, Any] = {"query_id": [row[0] for row in rows], "doc_id": [row[2] for row in rows]}
        columns["score"] = [float(row[4]) for row in rows]
        tables.append(pa.table(columns))
        pq.write_table(tables[-1], file.with_suffix(".parquet"))
        file.unlink()
    pq.write_table(pa.concat_tables(tables), tmp_path / "cand.parquet")
    found = score_shards(shards_of(folder, 2), qrels, MEASURES, executor=InThisProcess())
    same(found, scored_run(tmp_path / "cand.parquet", qrels, MEASURES), but=("digest",))


def test_files_of_two_formats_and_a_topic_in_two_files_are_refused(world, tmp_path):
    run, qrels = world
    folder = in_files(run, tmp_path / "cand", 2)
    (folder / "part-9.json").write_text('{"q1": {"d1": 1.0}}')
    with pytest.raises(RunFormatError, match=r"one format, found trec \(part-0\.run\) and ranx \(part-9\.json\)"):
        score_shards(shards_of(folder, 1), qrels, MEASURES, executor=InThisProcess())
    (folder / "part-9.json").write_text((folder / "part-0.run").read_text().splitlines(keepends=True)[0])
    for count in (1, 3):
        with pytest.raises(DataError, match=r"expected each topic in one part, found .* write all documents"):
            score_shards(shards_of(folder, count), qrels, MEASURES, executor=InThisProcess())


def test_processes(world):
    run, qrels = world
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        done: list[tuple[int, int]] = []
        found = score_shards(
            shards_of(run, 4), qrels, MEASURES, executor=executor, progress=lambda *numbers: done.append(numbers)
        )
        same(found, scored_run(run, qrels, MEASURES))
        assert done == [(number, 4) for number in range(1, 5)]
        run.write_text(run.read_text() + "q1 Q0 d1 x\n")
        with pytest.raises(RunFormatError, match=rf"^{run}:\d+: expected 6 columns"):
            score_shards(shards_of(run, 4), qrels, MEASURES, executor=executor)


def test_a_part_survives_its_file(world):
    run, qrels = world
    for part in parts_of(run, qrels, 2):
        content = content_of(part, qrels)
        again = read_content(content, qrels)
        assert again.origin == part.origin
        assert content_of(again, qrels) == content


#: How messages call what all parts of a run share.
NAMED = {
    **{"digest": "the digest of the run", "measures": "the measures", "versions": "the versions", "name": "the run"},
    **{"count": "the number of pieces", "by": "the division", "listing": "the files of the folder"},
    **{"qrels": "the judgements", "ties": "the order of equal scores"},
}


def test_parts_that_are_missing_doubled_or_of_others_are_refused(world, tmp_path):
    run, qrels = world
    one, two, three = parts_of(run, qrels, 3)
    with pytest.raises(DataError, match=r"expected all 3 pieces of the run, found 2 \(without 2/3\); make"):
        merged([one, three], qrels)
    with pytest.raises(DataError, match=r"c: expected each piece once, found piece 1/3 here and in a; leave one"):
        merged([one, two, one, three], qrels, names=["a", "b", "c", "d"])
    others: dict[str, Any] = {"measures": ("AP",), "versions": {"numpy": "1"}, "count": 4, "ties": "as_returned"}
    own = {"number", "files", "contradicted"}  # what differs from piece to piece
    for change in {field.name for field in fields(Origin)} - own:
        changes: dict[str, Any] = {change: others.get(change, "other")}
        other = Part(replace(two.origin, **changes), two.kept)
        with pytest.raises(DataError, match=rf"b: expected {NAMED[change]} of a, .* found .*; make all parts"):
            merged([one, other, three], qrels, names=["a", "b", "c"])


def test_messages_about_parts_name_the_one_to_leave_out_and_what_differs(world):
    run, qrels = world
    one, two, three = parts_of(run, qrels, 3)
    (whole,) = parts_of(run, qrels, 1)
    with pytest.raises(DataError, match=r"a: expected each piece once, found piece 1/3 twice; leave one"):
        merged([one, one, two, three], qrels, names=["a", "a", "c", "d"])
    for parts in ([whole, one, two, three], [one, two, three, whole]):
        names = ["whole" if part is whole else "piece" for part in parts]
        with pytest.raises(DataError, match="whole: expected a piece of the run, found a whole run; leave it out"):
            merged(parts, qrels, names=names)
    versions = {**two.origin.versions, "numpy": "1"}
    with pytest.raises(DataError, match=r"the versions of a, numpy [0-9.]+, found numpy 1; make"):
        merged([one, Part(replace(two.origin, versions=versions), two.kept), three], qrels, names=["a", "b", "c"])
    with pytest.raises(DataError, match=r"the measures of a, nDCG@10.*, found AP, RR; make"):
        merged([one, Part(replace(two.origin, measures=("AP", "RR")), two.kept)], qrels, names=["a", "b"])


def test_a_topic_in_two_parts_is_refused(world):
    run, qrels = world
    one, two = parts_of(run, qrels, 2, by="topics")
    message = r"cand: expected each topic in one part, found '.*' in part 1 and part 2"
    for kept in (one.kept, replace(one.kept, unknown=())):  # topics without judgements too, and judged ones alone
        with pytest.raises(DataError, match=message):
            merged([one, Part(two.origin, kept)], qrels)


def test_a_part_alone_is_not_a_run(world):
    run, qrels = world
    one, _ = parts_of(run, qrels, 2)
    with pytest.raises(DataError, match=r"expected a whole run, found piece 1/2 of it.*riskguard merge"):
        scored_part(one, qrels, MEASURES)


def test_a_whole_part_answers_other_measures_if_they_need_no_other_reading(world):
    run, qrels = world
    (whole,) = parts_of(run, qrels, 1)
    same(
        scored_part(whole, qrels, ["R@20", "SetP"]), scored_run(run, qrels, ["R@20", "SetP"], depth=whole.kept.depth)
    )
    with pytest.raises(DataError, match=r"scored with nDCG@10.*and IPrec@0\.1 needs the run itself"):
        scored_part(whole, qrels, ["IPrec@0.1"])


def test_a_part_made_with_other_judgements_is_refused(world, write):
    run, qrels = world
    content = content_of(parts_of(run, qrels, 1)[0], qrels)
    other = read_qrels(write("other.txt", "q1 0 d1 1\n"))
    with pytest.raises(DataError, match=r"a\.rgpart: expected a part scored with other\.txt as it is now"):
        read_content(content, other, source="a.rgpart")


def test_a_damaged_part_is_refused(world):
    run, qrels = world
    content = content_of(parts_of(run, qrels, 1)[0], qrels)
    for damaged in (content[:-1], content[:200], content.replace(b"cand", b"cane", 1)):
        with pytest.raises(DataError, match=r"a\.rgpart: expected .*; make it again with `riskguard score`"):
            read_content(damaged, qrels, source="a.rgpart")
    for other in (b"", b"q1 Q0 d1 1 2.5 cand\n" * 90):
        with pytest.raises(DataError, match=r"a\.rgpart: .* that `riskguard score` wrote, found one that begins"):
            read_content(other, qrels, source="a.rgpart")


@pytest.mark.parametrize(
    "change",
    [{"number": 3, "count": 2}, {"number": 0, "count": 2}, {"by": "lines"}, {"ties": "random"}, {"files": [1]}],
    ids=str,
)
def test_a_part_of_a_piece_that_no_run_has_is_refused(world, change):
    run, qrels = world
    (part,) = parts_of(run, qrels, 1)
    file = decoded(PART, content_of(part, qrels))
    header = {**file.header, "origin": {**file.header["origin"], **change}}
    with pytest.raises(DataError, match=r"a\.rgpart: .*; make it again with `riskguard score`"):
        read_content(encoded(PART, header, file.arrays), qrels, source="a.rgpart")


def arrays_with(name: str, change: Any) -> Any:
    """Changes one array of a part's file."""
    return lambda arrays: arrays | {name: change(arrays[name])}


@pytest.mark.parametrize(
    "changed",
    [
        arrays_with("rank_columns", lambda kinds: kinds * 0 + len(KINDS)),
        arrays_with("places", lambda places: places[::-1].copy()),
        arrays_with("examined.offsets", lambda offsets: offsets + 1),
        arrays_with("examined.offsets", lambda offsets: np.append(1, offsets[1:])),
        arrays_with("examined.places", lambda places: places - 1000),
        arrays_with("examined.places", lambda places: places + 1000),
        arrays_with("examined.text", lambda text: text * 0 + np.uint8(0xFF)),
    ],
    ids=["rank columns", "places", "offsets", "first offset", "places below all", "places beyond all", "no UTF-8"],
)
def test_a_part_with_a_right_checksum_is_still_checked(world, changed):
    run, qrels = world
    (part,) = parts_of(run, qrels, 1)
    file = decoded(PART, content_of(part, qrels))
    with pytest.raises(DataError, match=r"a\.rgpart: expected .*; make it again with `riskguard score`"):
        read_content(encoded(PART, file.header, changed(dict(file.arrays))), qrels, source="a.rgpart")


@pytest.mark.parametrize(("number", "count"), [(0, 2), (3, 2), (1, 0)])
def test_pieces_that_no_run_has(world, number, count):
    run, _ = world
    with pytest.raises(UsageError, match=f"shard {number}/{count}: expected a piece from 1 to {count}"):
        Shard(run, number, count, "bytes")


def test_pieces_must_be_all_of_one_run(world):
    run, qrels = world
    for shards in ((), shards_of(run, 3)[:2], shards_of(run, 2)[::-1]):
        with pytest.raises(UsageError, match="expected all pieces of one run, in order"):
            score_shards(shards, qrels, MEASURES, executor=InThisProcess())


def test_divisions_that_do_not_fit(world, tmp_path):
    run, qrels = world
    folder = in_files(run, tmp_path / "cand", 2)
    unfit: list[tuple[Path, Division, str]] = [
        (run, "files", "a single file to be divided by bytes or topics"),
        (folder, "bytes", "a folder to be divided by files"),
        (folder, "topics", "a folder to be divided by files"),
    ]
    for place, by, expected in unfit:
        with pytest.raises(UsageError, match=f"expected {expected}, found by {by}"):
            score_shards(shards_of(place, 2, by), qrels, MEASURES, executor=InThisProcess())
    with pytest.raises(UsageError, match="cand: expected at most 2 pieces, one for each file of the run"):
        score_shards(shards_of(folder, 3), qrels, MEASURES, executor=InThisProcess())


def test_rankings_upside_down_are_found_when_pieces_meet(tmp_path):
    rows = [f"q{t} Q0 d{d} {d} {d} tag\n" for t in range(20) for d in range(1, 9)]
    (tmp_path / "cand.run").write_text("".join(rows))
    (tmp_path / "qrels.txt").write_text("".join(f"q{t} 0 d{t % 8 + 1} 1\n" for t in range(20)))
    qrels = read_qrels(tmp_path / "qrels.txt")
    with pytest.raises(
        DataError, match=r"cand: expected scores that fall as ranks rise.*every ranking is upside down"
    ):
        score_shards(shards_of(tmp_path / "cand.run", 2), qrels, MEASURES, executor=InThisProcess())
