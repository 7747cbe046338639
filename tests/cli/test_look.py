"""What ``riskguard init`` takes the files of every tool for, by their content."""

import pytest

from pytest_riskguard.cli.look import planned
from tests.data.test_every_format import CASES
from tests.data.world import WORLD, Case


@pytest.mark.parametrize("case", [case for case in CASES if case.part is None], ids=lambda case: case.id)
def test_a_file_is_taken_for_what_its_tool_writes(tmp_path, case: Case):
    folder = tmp_path / "alone"
    folder.mkdir()
    for module in case.needs:
        pytest.importorskip(module)
    folder.joinpath(case.file).write_bytes(case.content(WORLD))
    if case.kind == "topics":  # alone they are no topics: their queries are judged
        folder.joinpath("qrels.txt").write_bytes(WORLD.qrels)
    plan = planned(folder, None, None, None)
    found = {"judgements": plan.qrels, "rankings": plan.baseline, "topics": plan.topics}
    names = {kind: path.name for kind, path in found.items() if path is not None and path.name != "qrels.txt"}
    assert names == ({} if case.kind == "scores" else {case.kind: case.file})
