"""riskguard.yaml becomes settings, or errors that say where and what to do."""

import sys

import pytest

from pytest_riskguard.config.candidate_settings import Retrieve, file_of
from pytest_riskguard.config.items import all_items, families, items_of
from pytest_riskguard.config.load import configs_below, find_config, load_config, not_found
from pytest_riskguard.config.schema import Collection
from pytest_riskguard.errors import ConfigError, UsageError
from pytest_riskguard.gates.kinds import gate_of

HEAD = "collection: {qrels: qrels.txt}\nmeasures: [nDCG@10, AP]\ncandidate: new.run\n"
LEVEL = "expected a number between 0.000001 and 0.999999 such as 0.95"
GATE = "name: no-risk, kind: not_significantly_risky, baseline: prod"


@pytest.fixture
def write(tmp_path):
    def write(text: str):
        path = tmp_path / "riskguard.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def items(write):
    """The items of the gates of a file with a good beginning."""

    def items(*lines: str):
        config = load_config(write(HEAD + "gates:\n" + "".join(f"  - {{{line}}}\n" for line in lines)))
        return [item for gate in config.gates for item in items_of(config, gate)]

    return items


@pytest.fixture
def errors(write):
    """Every error of a file, as (line, problem)."""

    def errors(text: str):
        with pytest.raises(ConfigError) as caught:
            load_config(write(text))
        return [(error.line, error.fault) for error in caught.value.errors]

    return errors


def test_a_whole_file_is_read(write):
    path = write(
        """\
collection:
  qrels: data/qrels.txt
  topics: ../topics.tsv
store: ../shared/baselines
measures: [nDCG@10, "AP(rel=2,judged_only=True)"]
candidate: runs/candidate.run.gz

gates:
  - name: no-risk
    kind: not_significantly_risky
    baseline: release-7
    measure: nDCG@10
    alpha: 5
    level: 0.99
    method: bca
    tolerance: 1e-3
    tradeoff: linear
    on_churn: fail
    on_inconclusive: warn
    max_mde: 0.02
    candidate: {retrieve: "shop.search:engine.query", depth: 50}
  - {name: all, kind: not_significantly_risky, baseline: prod}
"""
    )
    config = load_config(path)
    folder = path.parent
    assert config.path == path
    assert isinstance(config.collection, Collection)
    assert config.collection.qrels.path == folder / "data/qrels.txt"
    assert config.collection.topics.path == folder.parent / "topics.tsv"
    assert config.store == folder.parent / "shared/baselines"
    assert config.measures == ("nDCG@10", "AP(rel=2,judged_only=True)")
    assert file_of(config.candidate).path == folder / "runs/candidate.run.gz"
    first, second = config.gates
    assert first.candidate == Retrieve(retrieve="shop.search:engine.query", depth=50)
    (item,) = items_of(config, first)
    assert (item.id, item.measure, item.baselines) == ("no-risk", "nDCG@10", ("release-7",))
    assert (item.settings, config.line_of(first), config.line_of(second)) == (first, 9, 22)
    assert item.gate == gate_of(
        "no-risk",
        alpha=5.0,
        level=0.99,
        method="bca",
        tolerance=0.001,
        on_churn="fail",
        on_inconclusive="warn",
        max_mde=0.02,
    )
    assert (second.measure, second.candidate) == (None, None)
    assert [item.id for item in items_of(config, second)] == ["all[nDCG@10-1]", "all[AP(rel=2,judged_only=True)-1]"]


def test_defaults(write):
    head = HEAD.replace("qrels.txt", "irds:vaswani")
    config = load_config(write(f"{head}gates: [{{{GATE}, measure: AP}}]\n"))
    assert str(config.collection.qrels.path) == "irds:vaswani"
    assert config.store == config.path.parent / "baselines"
    assert config.collection.topics is None
    assert config.family == "none"
    (item,) = items_of(config, config.gates[0])
    assert (item.measure, item.gate) == ("AP", gate_of("no-risk"))


def test_each_measure_and_alpha_is_one_item_in_the_order_of_the_file(items):
    several = items(f"{GATE}, measure: [nDCG@10, AP], alpha: [5, 1e-05, 0.1]")
    assert [item.id for item in several] == [
        "no-risk[nDCG@10-5]",
        "no-risk[nDCG@10-1e-05]",
        "no-risk[nDCG@10-0.1]",
        "no-risk[AP-5]",
        "no-risk[AP-1e-05]",
        "no-risk[AP-0.1]",
    ]
    assert [item.gate.alpha for item in several] == [5.0, 1e-05, 0.1] * 2
    assert all(item.gate.name == item.id and item.settings is several[0].settings for item in several)


def test_all_measures_holds_those_that_only_a_gate_names(write):
    config = load_config(write(f"{HEAD}gates: [{{{GATE}, measure: [RR, AP]}}]\n"))
    assert config.all_measures == ("nDCG@10", "AP", "RR")


def test_the_message_begins_with_file_and_line(write):
    path = write(f"{HEAD}gates:\n\n  - {{{GATE}, alhpa: 1}}\n")
    with pytest.raises(UsageError) as caught:
        load_config(path)
    assert str(caught.value) == f"{path}:6: unknown key 'alhpa' in gate 'no-risk'; did you mean 'alpha'?"
    assert isinstance(caught.value, ConfigError)
    assert caught.value.errors == [caught.value]


def test_all_errors_of_a_file_are_told_at_once_by_line(write):
    path = write(
        "collection: {qrels: qrels.txt}\nmeasures: [AP]\ncandidate: new.run\nstroe: x\n"
        "gates:\n  - {name: a, kind: not_significantly_risky, baseline: prod, level: 95}\n"
        "  - {name: b, kind: not_significantly_risky, baseline: 3}\n"
    )
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    error = caught.value
    assert [e.line for e in error.errors] == [4, 6, 7]
    first, *rest = str(error).splitlines()
    assert first == f"{path}:4: unknown key 'stroe' in the file; did you mean 'store'? (and 2 more errors)"
    assert rest[0] == f"{path}:6: level of gate 'a': {LEVEL}, found the number 95"
    assert rest[1].startswith(f"{path}:7: baseline of gate 'b': expected the name of one stored baseline")
    assert (error.line, error.fault) == (4, "unknown key 'stroe' in the file; did you mean 'store'?")


@pytest.mark.parametrize("count", [2, 51, 300])
def test_many_errors_do_not_flood_the_terminal(write, count):
    path = write(HEAD + "gates:\n" + "  - 1\n" * count)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert len(caught.value.errors) == count
    first, *others = str(caught.value).splitlines()
    assert (first.endswith("(and 1 more error)"), len(others)) == (count == 2, min(count - 1, 50))


@pytest.mark.parametrize(
    ("gate", "problem"),
    [
        ("kind: not_significantly_risky, baseline: p", "gate 1 has no 'name'; add `name: ...`"),
        ("name: g, baseline: p", "gate 'g' has no 'kind'; add `kind: ...`"),
        (
            "name: g, kind: not_significantly_risky",
            "gate 'g': expected one of `baseline` and `baselines`, such as `baseline: NAME`",
        ),
        (
            "name: g, kind: georisk_not_worse",
            "gate 'g': expected one of `baseline` and `baselines`, such as `baselines: [NAME, NAME]`",
        ),
        (
            "name: g, kind: not_significantly_riski, baseline: p",
            "kind of gate 'g': expected not_significantly_risky, georisk_not_worse, not_inferior, equivalent, "
            "no_drift, no_topic_collapse or no_surprise, found 'not_significantly_riski'; did you mean "
            "'not_significantly_risky'?",
        ),
        (
            "name: g, kind: not_significantly_risky, baseline: a, baselines: [a, b]",
            "baselines of gate 'g': expected one of `baseline` and `baselines`, such as `baseline: NAME`",
        ),
        (
            "name: g, kind: georisk_not_worse, baselines: [a, b], reference: c",
            "reference of gate 'g': expected one of a, b, found 'c'",
        ),
        (
            "name: g, kind: equivalent, baseline: a",
            "gate 'g': tolerance: expected a number above 0, the smallest difference of the mean that matters, found "
            "the number 0.0",
        ),
        (
            "name: g, kind: georisk_not_worse, baselines: [a, b], method: basic",
            "method of gate 'g': expected auto, student_t, percentile or bca, found 'basic'",
        ),
        (
            "name: g, kind: not_significantly_risky, baseline: prod/oldest",
            "baseline of gate 'g': an earlier run is for no_drift; for not_significantly_risky name a stored "
            "baseline",
        ),
        (
            "name: g, kind: no_drift, baseline: prod/",
            "baseline of gate 'g': 'prod/' names no run after the '/': give its number, or oldest",
        ),
        (
            "name: g, kind: not_significantly_risky, baseline: 7.10",
            "baseline of gate 'g': expected the name of one stored baseline, found the number 7.1; put it in quotes",
        ),
        (
            "name: g, kind: not_significantly_risky, baseline: ../prod",
            "baseline of gate 'g': '..' cannot name a baseline: expected at most 100 letters, digits, "
            "'.', '_' and '-', beginning with a letter or digit, without '..' or a final '.'",
        ),
    ],
)
def test_what_makes_a_gate_must_be_there_and_known(errors, gate, problem):
    assert errors(f"{HEAD}gates:\n  - {{{gate}}}\n") == [(5, problem)]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("alpha: '1'", "alpha of gate 'no-risk': expected a number from 0 to 1e+09, found '1'"),
        (
            "alpha: -0.1",
            "alpha of gate 'no-risk': expected a number from 0 to 1e+09, found the number -0.1",
        ),
        ("alpha: [1, 2, 1.0]", "alpha of gate 'no-risk': 1.0 appears twice"),
        ("alpha:", "alpha of gate 'no-risk': expected a number from 0 to 1e+09, found nothing"),
        (
            "tolerance: -1",
            "tolerance of gate 'no-risk': expected a finite number, at least 0, found the number -1",
        ),
        (
            "method: BCA",
            "method of gate 'no-risk': expected auto, student_t, basic, studentized, percentile or bca, found 'BCA'; "
            "did you mean 'bca'?",
        ),
        ("weighted: yes", "weighted of gate 'no-risk': expected true or false, found 'yes'"),
        ("max_loss: 0.5", "max_loss of gate 'no-risk': it has no meaning for not_significantly_risky; leave it out"),
        (
            "alpha: [1, 5], tradeoff: smooth",
            "tradeoff of gate 'no-risk': smooth is for alpha 1 only, found alpha 5",
        ),
        ("on_churn: no", "on_churn of gate 'no-risk': expected fail or warn, found 'no'"),
        (
            "measure: 10",
            "measure of gate 'no-risk': expected a measure such as nDCG@10, found the number 10; put it in quotes",
        ),
        (
            "measure: ' nDCG@10'",
            "measure of gate 'no-risk': expected a measure such as nDCG@10, or in quotes \"RBP(p=0.8,rel=1)\", whose "
            "comma would end an entry, found ' nDCG@10'",
        ),
        (
            "candidate: 3",
            "candidate of gate 'no-risk': expected a path, found the number 3; put it in quotes",
        ),
        (
            "candidate: {depth: 5}",
            "candidate of gate 'no-risk' has no 'retrieve'; add `retrieve: ...`",
        ),
        (
            "candidate: {retrieve: 'a:b()'}",
            "candidate.retrieve of gate 'no-risk': expected package.module:function, found 'a:b()'",
        ),
        (
            "candidate: {retrieve: 'a:b', depth: 0}",
            "candidate.depth of gate 'no-risk': expected a whole number, from 1 to 100000, found the number 0",
        ),
        (
            "candidate: {retrieve: 'a:b', dept: 1}",
            "unknown key 'dept' in candidate of gate 'no-risk'; did you mean 'depth'?",
        ),
        ("zzz: 1", None),
    ],
)
def test_a_value_must_be_what_its_key_takes(errors, value, problem):
    ((line, said),) = errors(f"{HEAD}gates:\n  - {{{GATE},\n     {value}}}\n")
    assert line == 6
    if problem is None:
        assert said.startswith("unknown key 'zzz' in gate 'no-risk'; known keys: name, kind, baseline, baselines,")
    else:
        assert said == problem


@pytest.mark.parametrize("name", ["a::b", "a[1]", "a/b", " a", "", "a\\u202eb"])
def test_a_gate_is_not_named_what_a_node_id_cannot_hold(errors, name):
    ((line, said),) = errors(f'{HEAD}gates:\n  - {{name: "{name}", kind: not_significantly_risky, baseline: p}}\n')
    assert line == 5
    assert ": expected a name without '::'" in said


def test_two_gates_of_one_name_are_refused_at_the_second(errors):
    text = f"{HEAD}gates:\n  - {{{GATE}}}\n  - kind: not_significantly_risky\n    baseline: p\n    name: no-risk\n"
    assert errors(text) == [(8, "name of gate 'no-risk': the gate on line 5 has this name too; names must be unique")]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("- a\n", 1, "the file: expected a mapping, found a list"),
        (HEAD, 1, "the file: expected a list such as `gates: ["),
        (
            HEAD + "gates: []\n",
            4,
            "gates: expected a list such as `gates: [{name: no-risk, kind: not_significantly_risky, "
            "baseline: prod}]` (if gates are only in tests: pytest --riskguard-no-yaml)",
        ),
        (
            HEAD + f"gates: {{{GATE}}}\n",
            4,
            "gates: expected a list of gates, found a mapping; begin each gate with '- '",
        ),
        (HEAD + f"gate: [{{{GATE}}}]\n", 4, "unknown key 'gate' in the file; did you mean 'gates'?"),
        (
            f"measures: [AP]\ncandidate: c\ngates: [{{{GATE}}}]\n",
            1,
            "the file: expected the file of judgements: `collection: {qrels: qrels.txt}`",
        ),
        (
            f"measures: [AP]\ncandidate: c\ncollection: {{}}\ngates: [{{{GATE}}}]\n",
            3,
            "collection: expected the file of judgements: `collection: {qrels: qrels.txt}`",
        ),
        (
            f"measures: [AP]\ncandidate: c\ncollection: q.txt\ngates: [{{{GATE}}}]\n",
            3,
            "collection: expected a mapping, found 'q.txt'",
        ),
        (
            f"measures: [AP]\ncandidate: c\ncollection: {{qrels: [a]}}\ngates: [{{{GATE}}}]\n",
            3,
            "collection.qrels: expected a path, found a list",
        ),
        (
            f"collection: {{qrels: q}}\nmeasures: AP\ncandidate: c\ngates: [{{{GATE}}}]\n",
            2,
            "measures: expected a list of measures, found 'AP'",
        ),
        (
            f"collection: {{qrels: q}}\ncandidate: c\ngates: [{{{GATE}}}]\n",
            3,
            "gate 'no-risk': expected `measures: [nDCG@10]` in the file, or `measure:` here",
        ),
        (
            HEAD + f"store: 's3://bucket/b'\ngates: [{{{GATE}}}]\n",
            4,
            "store: expected a folder, found an address: copy the baselines into a folder before they are used",
        ),
        (
            HEAD + f"store: x\nstore: y\ngates: [{{{GATE}}}]\n",
            5,
            "key 'store' appears twice, first on line 4; remove one",
        ),
    ],
)
def test_the_file_as_a_whole(errors, text, line, problem):
    ((at, said),) = errors(text)
    assert at == line
    assert said == problem or (problem.endswith(("[", ",")) and said.startswith(problem))


def test_what_is_not_yaml_is_an_error_with_its_line(write):
    with pytest.raises(ConfigError, match=r"riskguard\.yaml:3: not YAML"):
        load_config(write("a: 1\nb: [1\nc: 2\n"))
    with pytest.raises(ConfigError, match=r"missing\.yaml:1: no such file"):
        load_config(write("").with_name("missing.yaml"))


def test_gates_are_optional_for_those_who_only_need_the_collection(write):
    for gates in ("", "gates:\n", "gates: []\n"):
        assert load_config(write(HEAD + gates), require_gates=False).gates == ()
    with pytest.raises(ConfigError, match="expected a list of gates"):
        load_config(write(HEAD + "gates: 1\n"), require_gates=False)


def test_the_nearest_file_upwards_is_found(tmp_path):
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "riskguard.yaml").touch()
    (tmp_path / "a" / "riskguard.yaml").touch()
    test = deep / "test_x.py"
    test.touch()
    assert find_config(test, stop=tmp_path) == tmp_path / "a" / "riskguard.yaml"
    assert find_config(tmp_path) == tmp_path / "riskguard.yaml"
    assert find_config(deep, stop=tmp_path / "a") == tmp_path / "a" / "riskguard.yaml"
    assert find_config(deep, stop=tmp_path / "a" / "b") is None


def test_the_search_ends_at_the_root_of_the_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    deep = tmp_path / "repository" / "a"
    deep.mkdir(parents=True)
    (tmp_path / "riskguard.yaml").touch()
    assert find_config(deep) == tmp_path / "riskguard.yaml"
    (tmp_path / "repository" / ".git").mkdir()
    assert find_config(deep) is None
    (tmp_path / "repository" / "riskguard.yaml").touch()
    assert find_config(deep) == tmp_path / "repository" / "riskguard.yaml"


@pytest.mark.skipif(sys.platform == "win32", reason="the home folder has another variable there")
def test_outside_repositories_the_search_ends_at_the_home_folder_or_where_it_begins(tmp_path, monkeypatch):
    deep = tmp_path / "home" / "a"
    deep.mkdir(parents=True)
    (tmp_path / "riskguard.yaml").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert find_config(deep) is None
    (tmp_path / "home" / "riskguard.yaml").touch()
    assert find_config(deep) == tmp_path / "home" / "riskguard.yaml"
    for elsewhere in (str(tmp_path / "b"), "/", ""):
        monkeypatch.setenv("HOME", elsewhere)
        assert find_config(deep) is None
    (deep / "riskguard.yaml").touch()
    assert find_config(deep / "riskguard.yaml") == deep / "riskguard.yaml"


COLLAPSE = "name: c, kind: no_topic_collapse, baseline: prod"


def test_a_gate_of_each_kind_is_read(items):
    collapse, inferior, drift = items(
        f"{COLLAPSE}, measure: AP, max_loss: 0.3, max_share: 0.5, protected: [q1, kind=brand]",
        "name: i, kind: not_inferior, baseline: prod, measure: AP, alpha: 0, tolerance: 0.01, weighted: true",
        "name: d, kind: no_drift, baseline: prod/oldest, measure: AP, alpha: 2",
    )
    protected = ("q1", "kind=brand")
    assert collapse.gate == gate_of("c", "no_topic_collapse", max_loss=0.3, max_share=0.5, protected=protected)
    assert inferior.gate == gate_of("i", "not_inferior", alpha=0.0, tolerance=0.01, weighted=True)
    assert (drift.gate, drift.baselines) == (gate_of("d", "no_drift", alpha=2.0), ("prod/oldest",))
    assert drift.settings.stored == ("prod",)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("max_share: 2", "max_share of gate 'c': expected a share from 0 to 1 such as 0.5, found the number 2"),
        (
            "max_loss: null",
            "gate 'c': no_topic_collapse needs one of max_loss, max_share and protected",
        ),
        ("protected: q1", "protected of gate 'c': expected a list of topics or TAG=VALUE, found 'q1'"),
        (
            "protected: [151]",
            "protected of gate 'c': expected a topic or TAG=VALUE, found the number 151; put it in quotes",
        ),
    ],
)
def test_what_a_collapse_gate_takes(errors, options, problem):
    ((line, said),) = errors(f"{HEAD}gates:\n  - {{{COLLAPSE}, {options}}}\n")
    assert (line, said) == (5, problem)


OTHER = "name: other, kind: not_significantly_risky, baseline: prod"


@pytest.mark.parametrize(
    ("family", "members"),
    [
        ("auto", ["no-risk[AP-1]", "no-risk[AP-5]", "other"]),
        ("auto", ["other"]),
        ("none", []),
    ],
)
def test_a_family_is_all_risk_gates(write, family, members):
    gates = [f"{GATE}, measure: AP, alpha: [1, 5]"] * (members != ["other"]) + [f"{OTHER}, measure: AP", COLLAPSE]
    lines = "".join(f"  - {{{gate}}}\n" for gate in gates)
    config = load_config(write(f"{HEAD}family: {family}\ngates:\n{lines}"))
    items = [item for gate in config.gates for item in items_of(config, gate)]
    found = [(one.correction, [item.id for item in one.items]) for one in families(config)]
    alone = [("none", [item.id]) for item in items if item.id not in members]
    assert found == ([(family, members)] if members else []) + alone


def test_a_risk_gate_on_several_baselines_is_a_family_for_each_measure_and_alpha(write):
    gates = (
        "  - {name: g, kind: not_significantly_risky, baselines: [a, b], measure: [AP, RR], alpha: [0.1, 5]}\n"
        "  - {name: c, kind: no_topic_collapse, baselines: [a, b], measure: AP}\n"
        "  - {name: p, kind: georisk_not_worse, baselines: [a, b], measure: AP, alpha: [1, 5]}\n"
    )
    config = load_config(write(f"{HEAD}gates:\n{gates}"))
    items = {item.id: item for item in all_items(config)}
    assert list(items)[:3] == ["g[AP-0.1-a]", "g[AP-0.1-b]", "g[AP-5-a]"]
    assert list(items)[-4:] == ["c[a]", "c[b]", "p[AP-1]", "p[AP-5]"]
    assert items["p[AP-5]"].baselines == ("a", "b")
    found = [(one.correction, [item.id for item in one.items]) for one in families(config)]
    assert found[3:6] == [("auto", ["g[RR-5-a]", "g[RR-5-b]"]), ("none", ["c[a]"]), ("none", ["c[b]"])]
    assert found[6:] == [("none", ["p[AP-1]"]), ("none", ["p[AP-5]"])]


@pytest.mark.parametrize(
    ("family", "gate", "problem"),
    [
        ("bonferroni", OTHER, "family: expected none or auto, found 'bonferroni'"),
        (
            "auto",
            f"{OTHER}, level: 0.9",
            "family: all its gates must have the same level, found no-risk 0.95, other 0.9",
        ),
    ],
)
def test_what_a_family_takes(errors, family, gate, problem):
    ((line, said),) = errors(f"{HEAD}family: {family}\ngates:\n  - {{{GATE}}}\n  - {{{gate}}}\n")
    assert (line, said) == (4, problem)


def test_that_none_was_found_says_where_it_was_looked_for_and_why_no_further(tmp_path, monkeypatch):
    deep = tmp_path / "home" / "repository" / "a"
    deep.mkdir(parents=True)
    assert not_found(deep) == f"no riskguard.yaml in {deep}"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert not_found(deep).endswith(f"a or above, up to {tmp_path / 'home'}")
    deep.parent.joinpath(".git").mkdir()
    assert not_found(deep).endswith(f"a or above, up to {deep.parent}")
    deep.parent.joinpath("riskguard.yml").touch()
    assert not_found(deep).endswith("; rename ../riskguard.yml to riskguard.yaml")


def test_files_below_a_folder_are_those_with_gates_or_with_errors_outside_of_what_tools_keep(tmp_path):
    text = f"{HEAD}gates: [{{{GATE}, measure: AP}}]\n"
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    for name, content in {
        "b": text,
        "a/c": "{",
        "data": HEAD,
        ".git": text,
        "node_modules": text,
        "env/x": text,
    }.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "riskguard.yaml").write_text(content)
    (tmp_path / "b" / "riskguard.yml").touch()
    assert configs_below(tmp_path) == [tmp_path / name / "riskguard.yaml" for name in ("a/c", "b")]
    (tmp_path / "a" / "riskguard.yml").touch()
    with pytest.raises(ConfigError, match=r"a/riskguard\.yml:1: rename the file to riskguard\.yaml"):
        configs_below(tmp_path)
