"""``riskguard init``: what it finds, the file that it writes, and the figures in the comments."""

import io
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from pytest_riskguard.config.load import load_config
from pytest_riskguard.config.schema import Config
from tests.plugin import world
from tests.plugin.world import read_report


@pytest.fixture
def nothing(folder):
    """The working folder without a riskguard.yaml."""
    folder.joinpath("riskguard.yaml").unlink()
    return folder


def test_init_writes_the_gates_that_compare_asks_without_a_file(command, done, nothing):
    asked = "compare loss.run --baseline prod.run --qrels qrels.txt --topics topics.tsv --measure AP -o asked.json"
    assert command(asked).status == 1
    done("init --topics topics.tsv --measure AP --candidate loss.run")
    assert command("check -o checked.json").status == 1
    asked, checked = (read_report(nothing / f"{name}.json")["verdicts"] for name in ("asked", "checked"))
    assert [(verdict["gate"], verdict["outcome"]) for verdict in asked] == [
        ("no-risk", "fail"),
        ("tail", "fail"),
        ("no-collapse", "pass"),
    ]
    text = (nothing / "riskguard.yaml").read_text()
    assert "counts 1 + alpha = 2 times" in text
    assert max(map(len, text.splitlines())) <= 118
    stored = ("inputs", "summary", "exhibits", "documents", "warnings")
    for one, other in zip(asked, checked, strict=True):
        assert {**one, **dict.fromkeys(stored)} == {**other, **dict.fromkeys(stored)}


def test_init_quotes_what_yaml_would_read_differently(done, folder):
    done("init --output other.yaml --qrels 'my qrels: #1.txt' --candidate '0.run' --measure 'RBP(p=0.9,rel=1)'")
    settings = load_config(folder / "other.yaml")
    assert settings.collection.qrels.path.name == "my qrels: #1.txt"
    assert settings.measures == ("RBP(p=0.9,rel=1)",)
    assert settings.collection.topics.path.name == "topics.tsv"  # the only one there
    assert "\n  # grades: [0, 3] " in settings.path.read_text()


def test_grades_are_those_of_the_judgements(done, nothing):
    (nothing / "few.txt").write_text("q0 0 e 2\nq0 0 d 1\n")
    done("init --qrels few.txt")
    assert "\n  grades: [0, 2]     # the lowest" in nothing.joinpath("riskguard.yaml").read_text()


# What is found.

QRELS = "".join(f"{topic} 0 good 1\n" for topic in world.TOPICS)
TOPICS = "".join(f"{topic}\t{text}\n" for topic, text in world.QUERIES.items())
RUN = "".join(f"{topic} Q0 good 1 9.5 x\n" for topic in world.TOPICS)
OF_BEIR = {
    "help/qrels/dev.tsv": "query-id\tcorpus-id\tscore\n" + "".join(f"{t}\tgood\t1\n" for t in world.TOPICS),
    "help/qrels/test.tsv": "query-id\tcorpus-id\tscore\n" + "".join(f"{t}\tgood\t2\n" for t in world.TOPICS),
    "help/queries.jsonl": "".join(json.dumps({"_id": t, "text": q}) + "\n" for t, q in world.QUERIES.items()),
    "help/corpus.jsonl": json.dumps({"_id": "good", "title": "a title", "text": "a text"}) + "\n",
}
SEARCH = "import module_of_nobody\n\ndef search(query, k, *, fuzzy=True):\n    raise SystemExit\n"
NO_SEARCH = """
def search(pattern, text): ...
def search_in(query, index): ...
class Engine:
    def search(self, query): ...
"""


def named(settings: Config) -> list[object]:
    """What a riskguard.yaml names: judgements, topics, candidate."""
    candidate = getattr(settings.candidate, "retrieve", None) or getattr(settings.candidate, "run", None)
    given = [*(one and one.path for one in (settings.collection.qrels, settings.collection.topics)), candidate]
    return [path.relative_to(settings.path.parent).as_posix() if isinstance(path, Path) else path for path in given]


@pytest.fixture
def inits(command, tmp_path, monkeypatch):
    """Write files into an empty folder, and call init there: what it names, and how it ended."""
    folder = tmp_path / "found"

    def ended(files: dict[str, str], *words: str):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        ended = command(shlex.join(["init", *words]))
        assert ended.status == 0, ended.err
        return named(load_config(folder / "riskguard.yaml", require_gates=False)), ended.out

    return ended


@pytest.mark.parametrize(
    ("files", "names", "stored"),
    [
        (
            {"qrels.txt": QRELS, "topics.tsv": TOPICS, "prod.run": RUN, "new.run": RUN},
            ["qrels.txt", "topics.tsv", "new.run"],
            "prod.run",
        ),
        (
            {"qrels.txt": QRELS, "a.tsv": "other\tred shoes\n", "b.tsv": TOPICS, "prod.run": RUN, "new.run": RUN},
            ["qrels.txt", "b.tsv", "new.run"],
            "prod.run",
        ),
        ({"q": QRELS, "runs/b.txt": RUN, "runs/a.txt": RUN}, ["q", None, "runs/b.txt"], "runs/a.txt"),
        (
            {"data/qrels/x.tsv": QRELS, "candidate.run": RUN, "x.run": RUN},
            ["data/qrels/x.tsv", None, "candidate.run"],
            "x.run",
        ),
        ({"qrels.txt": QRELS, "candidate.run": RUN}, ["qrels.txt", None, None], "candidate.run"),
        ({**OF_BEIR, "prod.run": RUN}, ["help/qrels/test.tsv", "help/queries.jsonl", None], "prod.run"),
        (
            {
                "labels.json": json.dumps({"t01": {"good": 1}}),
                "scores.json": json.dumps({"t01": {"good": 0.5}}, indent=1),
                "of-others.run": "other Q0 d 1 9 x\n",
                "node_modules/prod.run": RUN,
                "baselines/old/manifest.json": "{}",
                "baselines/old/run.txt": RUN,
                "notes.txt": "four words of prose\n",
                "large.bin": "\0" * 10,
            },
            ["labels.json", None, None],
            "scores.json",
        ),
    ],
)
def test_files_are_known_by_their_content_and_runs_by_their_names(inits, command, files, names, stored):
    found, said = inits(files)
    assert found == names
    assert f"`riskguard baseline add prod {stored}`" in said
    assert ("riskguard check --candidate RUN" in said) == (names[2] is None)
    for typed in re.findall("`riskguard ([^`]+)`", said):
        assert command(typed.replace("RUN", stored)).status != 2


@pytest.mark.parametrize(
    ("files", "module"),
    [
        ({"app/engine.py": SEARCH}, "app.engine:search"),
        ({"src/shop/__init__.py": "", "src/shop/find.py": "async def retrieve(q): ..."}, "shop.find:retrieve"),
        ({"lib/find.py": SEARCH, "pytest.ini": "[pytest]\npythonpath = lib"}, "find:search"),
        ({"engine/__init__.py": SEARCH, "broken.py": "def search(query:"}, "engine:search"),
        ({"engine.py": NO_SEARCH, "test_search.py": ""}, None),
    ],
)
def test_a_function_that_searches_is_found_without_importing_it(inits, files, module):
    found, said = inits({"qrels.txt": QRELS, "topics.tsv": TOPICS, **files})
    assert found[2] == module
    assert ("`riskguard baseline add prod`, then change the search" in said) == (module is not None)


def test_two_runs_are_judged_before_the_file_is_written(inits):
    _, said = inits({"qrels.txt": QRELS, "x.run": RUN, "y.run": RUN.replace("good", "bad")})
    lines = said.splitlines()
    assert lines[0] == "judgements: qrels.txt (trec), 30 queries"
    assert [line for line in lines if "y.run: expected document ids of qrels.txt" in line] == [lines[-2]]
    assert lines[-2].startswith("No verdict: ")
    assert lines[-1] == "wrote riskguard.yaml. Next: write the ids of the run as the judgements do"


def test_a_baseline_that_is_stored_need_not_be_stored_again(inits):
    _, said = inits({"qrels.txt": QRELS, "prod.run": RUN, "new.run": RUN, "baselines/prod/manifest.json": "{}"})
    assert said.endswith("wrote riskguard.yaml. Next: `riskguard check`\n")


def test_without_judgements_the_gate_is_about_change(inits, command, done):
    found, said = inits({"topics.tsv": TOPICS, "prod.run": RUN, "new.run": RUN.replace("good", "bad")})
    assert found == [None, "topics.tsv", "new.run"]
    assert "FAIL no-surprise: new against prod" in said
    assert "wrote riskguard.yaml, whose gate measures change, not harm" in said
    done("baseline add prod prod.run")
    assert command("check -q").out in said


def test_what_is_typed_is_taken(inits):
    files = {"qrels.txt": QRELS, "other.txt": QRELS, "prod.run": RUN, "new.run": RUN, "app.py": SEARCH}
    found, said = inits(files, "--qrels", "other.txt", "--candidate", "app:search")
    assert found == ["other.txt", None, "app:search"]
    assert "also there: qrels.txt, new.run" in said


def test_a_path_to_a_function_is_answered_with_what_to_type(command, nothing):
    ended = command("init --candidate app/engine.py:search")
    assert ended.status == 2
    assert "expected package.module:function, found 'app/engine.py:search'" in ended.err
    assert not (nothing / "riskguard.yaml").exists()


def test_judgements_that_cannot_be_read_are_said_before_anything_is_written(refused, nothing):
    (nothing / "qrels.txt").write_text(QRELS + "t01 0 good very\n")
    refused("init --candidate loss.run", "qrels.txt:31: expected a number", status=3)
    assert not (nothing / "riskguard.yaml").exists()


def test_where_nothing_is_found_it_says_what_each_looks_like_and_writes_the_comments(inits):
    found, said = inits({})
    assert found == ["qrels.txt", None, None]
    assert said.count("none found") == 4
    assert "Next: write qrels.txt, the judgements, then `riskguard baseline add" in said
    assert "# not there yet; judgements" in Path("riskguard.yaml").read_text()


@pytest.mark.parametrize(("answer", "is_written"), [("\n", True), ("n\n", False)])
def test_on_a_terminal_it_asks_first(done, nothing, monkeypatch, answer, is_written):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    out = done("init --candidate loss.run")
    assert "Write riskguard.yaml? [Y/n]" in out
    assert (nothing / "riskguard.yaml").exists() == is_written


def test_without_a_candidate_check_says_how_to_name_one_and_takes_one(done, refused, folder):
    world.edit(folder / "riskguard.yaml", "candidate: candidate.run\n", "")
    refused("check", "gate 'no-risk': expected `candidate: RUN` in the file, or `riskguard check --candidate RUN`")
    done("check --candidate good.run")
    done("baseline list")


def test_what_is_typed_is_told_from_what_was_found(done):
    out = done("init -o new.yaml --qrels nowhere.txt --candidate nothing:search")
    assert "judgements: nowhere.txt (not there yet)" in out
    assert "candidate: nothing:search (as typed)" in out


def test_a_file_that_cannot_be_made_is_a_mistake(command):
    ended = command(f"init -o {'a' * 300}")
    assert (ended.status, "File name too long" in ended.err) == (2, True)
