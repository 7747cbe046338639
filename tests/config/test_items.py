"""Slices in riskguard.yaml: which items they become, and what is wrong with them, at their line."""

import subprocess
import sys

import pytest

from pytest_riskguard.config.items import families, items_of
from pytest_riskguard.config.load import load_gates
from pytest_riskguard.errors import ConfigError

HEAD = "collection: {qrels: qrels.txt, topics: topics.tsv}\nmeasures: [AP]\ncandidate: new.run\n"
GATE = "name: g, kind: not_significantly_risky, baseline: prod"
SIZES = {"code": 30, "how to": 12, "how_to": 12, "a\u0301/b::c]" + "x" * 34: 11, "rare": 2}


@pytest.fixture
def folder(tmp_path):
    rows, judged = ["topic\tquery\tintent\tkind\tpart\n"], list[str]()
    for value, size in SIZES.items():
        for number in range(size):
            topic = f"t{len(judged):03d}"
            rows.append(f"{topic}\tsome words\t{value}\t{'odd' if number % 2 else 'even'}\t{len(judged) // 12}\n")
            judged.append(topic)
    rows.append("unjudged\tsome words\tnew\teven\t9\n")
    (tmp_path / "topics.tsv").write_text("".join(rows))
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 d 1\n" for topic in judged))
    return tmp_path


@pytest.fixture
def load(folder):
    def load(*gates: str, head: str = HEAD):
        path = folder / "riskguard.yaml"
        path.write_text(head + "gates:\n" + "".join(f"  - {{{gate}}}\n" for gate in gates))
        return load_gates(path)

    return load


@pytest.fixture
def items(load):
    def items(*gates: str):
        config = load(*gates)
        return {item.id: item.gate.slice for gate in config.gates for item in items_of(config, gate)}

    return items


@pytest.fixture
def errors(load):
    def errors(*gates: str, head: str = HEAD):
        with pytest.raises(ConfigError) as caught:
            load(*gates, head=head)
        return [(error.line, error.fault) for error in caught.value.errors]

    return errors


def test_a_named_slice_leaves_the_gate_its_name(items):
    assert items(f"{GATE}, slice: intent=rare") == {"g": "intent=rare"}


def test_several_slices_have_an_item_each(items):
    assert items(f"{GATE}, slice: [intent=code, intent=rare]") == {
        "g[code]": "intent=code",
        "g[rare]": "intent=rare",
    }
    assert items(f"{GATE}, slice: [intent=code, kind=odd]") == {
        "g[intent=code]": "intent=code",
        "g[kind=odd]": "kind=odd",
    }


def test_a_tag_has_an_item_for_each_large_value_even_if_there_is_but_one(items):
    assert items(f"{GATE}, slice: intent") == {"g[code]": "intent=code"}
    assert items(f"{GATE}, slice: kind, alpha: [0, 5]") == {
        "g[AP-0-even]": "kind=even",
        "g[AP-0-odd]": "kind=odd",
        "g[AP-5-even]": "kind=even",
        "g[AP-5-odd]": "kind=odd",
    }


def test_ids_made_of_other_peoples_text_are_safe_and_unique(items):
    found = items(f"{GATE}, slice: [{', '.join(repr(f'intent={value}') for value in SIZES if value != 'rare')}]")
    assert sorted(found.values()) == sorted(f"intent={value}" for value in SIZES if value != "rare")
    inner = [item.removeprefix("g[").removesuffix("]") for item in found]
    assert not any(character in text for text in inner for character in " :/[]")
    assert [text for text in inner if "~" not in text] == ["code", "a\u0301_b__c_" + "x" * 32]
    assert len(set(inner)) == 4
    assert [len(text.partition("~")[2]) for text in inner if "~" in text] == [6, 6]


def test_baselines_stand_before_slices_and_all_are_one_family(load):
    config = load("name: g, kind: not_significantly_risky, baselines: [a, b], slice: kind, alpha: [0, 5]")
    found = items_of(config, config.gates[0])
    assert [item.id for item in found][:4] == ["g[AP-0-a-even]", "g[AP-0-a-odd]", "g[AP-0-b-even]", "g[AP-0-b-odd]"]
    assert [(one.correction, one.items) for one in families(config)] == [("auto", found[:4]), ("auto", found[4:])]


def test_slices_of_a_gate_that_tests_are_a_family_and_those_of_others_are_not(load):
    slices = "slice: kind"
    pool = load(f"name: g, kind: georisk_not_worse, baselines: [a, b], {slices}")
    items = items_of(pool, pool.gates[0])
    assert [item.baselines for item in items] == [("a", "b")] * 2
    assert [(one.correction, one.items) for one in families(pool)] == [("auto", items)]
    other = load(f"name: g, kind: no_topic_collapse, baseline: a, {slices}")
    assert [(one.correction, len(one.items)) for one in families(other)] == [("none", 1)] * 2


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("slice: intend", "slice of gate 'g': there is no tag 'intend'; did you mean 'intent'?"),
        ("slice: intent=codes", "slice of gate 'g': no judged topic has intent=codes; did you mean 'code'?"),
        (
            "slice: [kind=odd, kind=even, kind]",
            "slice of gate 'g': kind repeats kind=even, which kind=even declares",
        ),
        ("slice: [kind, kind=odd]", "slice of gate 'g': kind=odd repeats kind=odd, which kind declares"),
        (
            "slice: part",
            "slice of gate 'g': no value of 'part' has 25 judged topics (largest: 0 12, 1 12, 2 12, 3 12, 4 12, "
            "5 7); name the slices to ask about, as part=VALUE",
        ),
        ("slice: []", "slice of gate 'g': expected TAG=VALUE or TAG or a list of them, found an empty list"),
        ("slice: intent=", "slice of gate 'g': expected TAG=VALUE or TAG, a column of the topics file, found"),
        ("slice: 3", "slice of gate 'g': expected TAG=VALUE or TAG, found the number 3; put it in quotes"),
        ("slice: [kind=odd, kind = odd]", "slice of gate 'g': kind=odd appears twice"),
    ],
)
def test_mistakes_are_told_at_their_line(errors, keys, problem):
    ((line, said),) = errors(f"{GATE}, {keys}")
    assert line == 5
    assert said.startswith(problem)


def test_the_mistakes_of_all_gates_are_told_at_once(errors):
    found = errors(
        f"{GATE}, slice: intend", "name: h, kind: no_topic_collapse, baseline: a, slice: [kind=odd,\n    x=y]"
    )
    assert [line for line, _ in found] == [5, 7]


def test_files_that_cannot_tell_are_named(errors, folder):
    head = HEAD.replace(", topics: topics.tsv", "")
    ((line, said),) = errors(
        f"{GATE},\n     slice: intent", "name: h, kind: no_drift, baseline: a, slice: x", head=head
    )
    assert line == 6
    assert said.startswith("slice: it needs judgements, and a topics file with a column for each tag")
    with (folder / "topics.tsv").open("a") as file:
        file.write("t000\tagain\tcode\todd\t0\n")
    ((line, said),) = errors(f"{GATE}, slice: intent")
    assert line == 5
    assert f"slice: its topics cannot be looked up: {folder / 'topics.tsv'}:70: " in said


def test_gates_without_slices_open_no_file(load, folder):
    (folder / "topics.tsv").unlink()
    (folder / "qrels.txt").unlink()
    config = load(GATE)
    assert [item.id for item in items_of(config, config.gates[0])] == ["g"]


@pytest.mark.slow
def test_reading_settings_loads_no_numpy_and_looking_slices_up_no_scipy(load, folder):
    load(f"{GATE}, slice: kind")
    code = (
        "import sys; from pathlib import Path; from pytest_riskguard.config.load import load_config; "
        "from pytest_riskguard.config.items import items_of, look_up_slices; "
        "print({'yaml', 'pydantic'} & {*sys.modules}); config = load_config(Path('riskguard.yaml')); "
        "print({'numpy', 'pytest', 'filelock'} & {*sys.modules}); look_up_slices(config); "
        "print(len(items_of(config, config.gates[0])), {'scipy', 'ir_measures'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\nset()\n2 set()\n"


def test_gates_are_counted_before_any_is_made(errors, load, set_limit):
    alphas = ", ".join(map(str, range(1001)))
    ((line, problem),) = errors(f"{GATE}, measure: [AP, RR], alpha: [{alphas}]")
    assert line == 1
    assert "expected at most 2,000 gates" in problem
    assert "found 2,002; if the file is right, set RISKGUARD_LIMITS" in problem
    set_limit("GATES", 1)
    ((_, problem),) = errors(f"{GATE}, slice: kind")
    assert "found 2;" in problem
    set_limit("GATES", 2)
    assert len(load(f"{GATE}, slice: kind").gates) == 1
