"""Files that ranx saves, read through ranx."""

import pytest

from pytest_riskguard.data.qrels import read_qrels
from pytest_riskguard.data.runs import read_run
from pytest_riskguard.errors import RunFormatError

ranx = pytest.importorskip("ranx")
pytestmark = pytest.mark.slow  # importing ranx compiles


def test_compressed_runs_and_judgements_are_those_that_were_saved(tmp_path, set_limit):
    run = {"q1": {"d1": 2.5, "d2": 1.0}, "q2": {"d1": 0.5}}
    ranx.Run.from_dict(run).save(str(tmp_path / "run.lz4"))
    found = read_run(tmp_path / "run.lz4")
    assert found.by_topic() == run
    ranx.io.save_lz4({"q1": {"d1": 2, "d2": 0}}, str(tmp_path / "qrels.lz4"))
    assert read_qrels(tmp_path / "qrels.lz4").grades == {"q1": {"d1": 2, "d2": 0}}
    set_limit("RUN_BYTES", 39)
    with pytest.raises(RunFormatError, match="expected at most 39 bytes of text in a run, found 7"):
        read_run(tmp_path / "run.lz4")


@pytest.mark.parametrize("content", [b"\x04\x22\x4d\x18 and no more", [1], {"q": {"d": "text"}}, {"q": 1.0}], ids=str)
def test_other_content_is_refused(tmp_path, content):
    path = tmp_path / "run.lz4"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        ranx.io.save_lz4(content, str(path))
    with pytest.raises(RunFormatError, match=r"run\.lz4: expected"):
        read_run(path)
