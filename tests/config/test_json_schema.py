"""The JSON Schema of riskguard.yaml: complete, and right about files that riskguard accepts or refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from pytest_riskguard.cli.main import run
from pytest_riskguard.config import yaml_lines
from pytest_riskguard.config.json_schema import MODELINE, SCHEMA_NAME, json_schema
from pytest_riskguard.config.load import load_config
from pytest_riskguard.config.schema import Config
from pytest_riskguard.config.setting_types import Model
from pytest_riskguard.errors import ConfigError
from pytest_riskguard.gates.kinds import OPTIONS
from tests.docs.pages import DOCS, PAGES, blocks

ROOT = DOCS.parent
SCHEMA = json_schema()
COLLECTION = "collection: {qrels: qrels.txt}\nmeasures: [AP]\ncandidate: c.run\n"
RISK = "name: a, kind: not_significantly_risky, baseline: prod"


def problems(data: Any) -> list[str]:
    checker = jsonschema.Draft7Validator(SCHEMA)
    return [error.message for error in checker.iter_errors(data)]


def data_of(text: str) -> Any:
    return yaml_lines.parse(text.encode()).data


def shown() -> Iterator[Any]:
    """Every riskguard.yaml that the documentation and the examples show."""
    yield pytest.param((ROOT / "examples/help_center/riskguard.yaml").read_text(encoding="utf-8"), id="help_center")
    for page in PAGES:
        for block in blocks(page):
            if block.action == "file" and str(block.argument).endswith("riskguard.yaml"):
                yield pytest.param(block.text, id=f"{page.name}:{block.line}")


def every_model(model: type[Model]) -> Iterator[type[Model]]:
    for inner in model.__subclasses__():
        yield inner
        yield from every_model(inner)


def test_it_is_a_schema_of_the_dialect_that_editors_know():
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_every_key_of_every_model_is_in_it():
    models = [model for model in every_model(Model) if model.__name__ in SCHEMA["$defs"]]
    assert len(models) >= 7
    for model in models:
        assert set(SCHEMA["$defs"][model.__name__]["properties"]) == set(model.model_fields), model
        assert SCHEMA["$defs"][model.__name__]["additionalProperties"] is False
    assert set(SCHEMA["properties"]) == set(Config.model_fields)


@pytest.mark.parametrize("text", list(shown()))
def test_what_the_documentation_shows_is_right(text):
    assert problems(data_of(text)) == []


@pytest.mark.parametrize(
    ("gate", "keys"),
    [
        (f"{RISK}, alpha: 1e-3", ""),
        (f"{RISK}, alpha: [1, 5], measure: nDCG@10, slice: [kind=code, lang]", ""),
        (f"{RISK}, max_mde: null, tolerance: 0.01, method: bca, on_churn: warn, weighted: true", ""),
        ("name: b, kind: no_topic_collapse, baseline: prod, max_loss: null, max_share: 0.5, protected: [q1]", ""),
        ("name: b, kind: georisk_not_worse, baselines: [prod, other], reference: other", ""),
        ("name: b, kind: not_inferior, baseline: 'mean(p, q, candidate)', tolerance: 0.1", ""),
        (f"{RISK}, candidate: {{retrieve: 'a.b:c', timeout: none, metadata: {{index: v8}}}}", ""),
        ("name: b, kind: no_topic_collapse, baseline: prod, max_loss: 0.3, allowed: 0.05", ""),
        ("name: b, kind: no_topic_collapse, baseline: prod, allowed: 3", ""),
        (f"{RISK}, candidate: {{run: a.run, metadata: {{index: v8}}}}", ""),
        (RISK, "family: auto\nstore: b\n"),
        ("name: b, kind: no_drift, baseline: prod/oldest", ""),
    ],
)
def test_what_riskguard_accepts_is_right(tmp_path, gate, keys):
    text = f"{COLLECTION}{keys}gates:\n  - {{{gate}}}\n"
    path = tmp_path / "riskguard.yaml"
    path.write_text(text)
    load_config(path)
    assert problems(data_of(text)) == []


@pytest.mark.parametrize(
    ("gate", "keys"),
    [
        (f"{RISK}, alpah: 1", ""),
        (f"{RISK}, alpha: -1", ""),
        (f"{RISK}, level: 2", ""),
        (f"{RISK}, on_churn: maybe", ""),
        (f"{RISK}, weighted: 3", ""),
        ("name: b, kind: no_topic_collapse, baseline: prod, allowed: -1", ""),
        ("name: b, kind: no_topic_collapse, baseline: prod, allowed: 1.5", ""),
        ("name: b, kind: no_topic_collapse, baseline: prod, allowed: some", ""),
        (f"{RISK}, baselines: []", ""),
        ("name: b, baseline: prod", ""),
        ("name: b, kind: magic, baseline: prod", ""),
        (f"{RISK}, slice: 5", ""),
        (f"{RISK}, candidate: {{retrieve: 'a.b:c', workers: 0}}", ""),
        (RISK, "family: bonferroni\n"),
        (RISK, "colection: {}\n"),
    ],
)
def test_what_it_refuses_riskguard_refuses_too(tmp_path, gate, keys):
    text = f"{COLLECTION}{keys}gates:\n  - {{{gate}}}\n"
    path = tmp_path / "riskguard.yaml"
    path.write_text(text)
    assert problems(data_of(text)) != []
    with pytest.raises(ConfigError):
        load_config(path)


def test_every_mapping_and_each_option_of_a_gate_has_its_meaning():
    gate = SCHEMA["$defs"]["GateModel"]
    assert gate["description"].startswith("One entry of `gates`")
    assert {name: gate["properties"][name]["description"] for name in OPTIONS} == {
        name: option.help for name, option in OPTIONS.items()
    }
    assert gate["properties"]["baseline"]["description"].startswith("The name of one stored baseline, or")
    assert SCHEMA["properties"]["budget"]["description"].startswith("How many looks")


def test_init_writes_it_and_names_it_in_the_first_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    settings, schema = tmp_path / "riskguard.yaml", tmp_path / SCHEMA_NAME
    assert run(["init"]) == 0
    assert settings.read_text().splitlines()[0] == MODELINE
    assert MODELINE.endswith(f"$schema={SCHEMA_NAME}")
    assert json.loads(schema.read_text()) == SCHEMA
    assert problems(data_of(settings.read_text())) == []
    capsys.readouterr()
    assert run(["schema"]) == 0
    assert capsys.readouterr().out == schema.read_text()


def test_init_leaves_a_file_that_has_the_name_of_the_schema(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    schema = tmp_path / SCHEMA_NAME
    schema.write_text("{}")
    assert run(["init"]) == 0
    assert schema.read_text() == "{}"
