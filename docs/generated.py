"""Tables of the documentation site that come from the code: reports, options of gates, settings, modules."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_riskguard import limits as every_limit
from pytest_riskguard.config.candidate_settings import (
    CommandCandidate,
    DescribedRun,
    DescribedScores,
    Http,
    HttpCandidate,
    Retrieve,
)
from pytest_riskguard.config.schema import Collection, Config, Documents, GateSettings, QrelsFile
from pytest_riskguard.config.setting_types import Model
from pytest_riskguard.data.formats import FORMATS
from pytest_riskguard.data.headers import SYNONYMS
from pytest_riskguard.gates.kinds import KINDS, options_of
from pytest_riskguard.gates.option_types import Option
from pytest_riskguard.gates.warning_codes import REASONS_OF, WARNINGS
from pytest_riskguard.limits import Limit
from pytest_riskguard.plugin import pytest_addoption

PACKAGE = Path(__file__).resolve().parents[1] / "pytest_riskguard"
SCHEMA_FILE = PACKAGE / "reports" / "riskguard-report-1.schema.json"
#: Values that a description lists; the page has a table for longer lists.
MAX_VALUES = 8
_VERDICT = "verdicts[]."
#: Fields of the file that have fields of their own, besides the verdicts.
_OF_FILE = ("gates", "gates[]", "provenance", "policy_changes")


@dataclass(frozen=True)
class ReportField:
    """A field of the JSON report.

    Attributes
    ----------
    path : str
        Objects in lists as ``name[].field``; fields of a verdict without ``verdicts[]``.
    type : str
        Such as ``number or null``, ``list of objects``.
    description : str
    values : tuple of str
        Those that the field may have, as JSON.
    """

    path: str
    type: str
    description: str
    values: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The description, and what the schema adds to it."""
        added = ""
        if 0 < len(self.values) <= MAX_VALUES:
            listed = ", ".join(f"`{value}`" for value in self.values)
            added = f" {'One of' if len(self.values) > 1 else 'Always'} {listed}."
        return self.description + added


def report_fields(schema: dict[str, Any] | None = None) -> list[ReportField]:
    """Every field of the report, in the order of the JSON Schema, with its description there."""
    schema = schema or json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return list(_fields(schema, schema, ""))


def report_sections() -> dict[str, list[ReportField]]:
    """The same by headings: the file, a verdict, and each field of a verdict that has fields of its own."""
    every = report_fields()
    first = next(at for at, field in enumerate(every) if field.path == "verdicts") + 1
    sections = {"The file": every[:first], "A verdict": []}
    of_file = [field for field in every if _top(field) in _OF_FILE]
    of_verdict = [field for field in every[first:] if field not in of_file]
    sections["The file"] += of_file
    with_fields = {_top(field) for field in of_verdict if field.path != _top(field)}
    for field in of_verdict:
        top = _top(field)
        sections["A verdict"] += [field] if field.path == top else []
        if top in with_fields:
            sections.setdefault(f"`{top}`", []).append(field)
    return sections


def _top(field: ReportField) -> str:
    """The field of a verdict that a field belongs to."""
    return re.split(r"[.[]", field.path)[0]


def _fields(schema: dict[str, Any], node: dict[str, Any], path: str) -> Iterator[ReportField]:
    """Fields below a node."""
    for variant in _variants(schema, node):
        if "items" in variant:
            yield from _fields(schema, variant["items"], f"{path}[]")
        for name, below in variant.get("properties", {}).items():
            here = f"{path}.{name}".removeprefix(".").removeprefix(_VERDICT)
            values = below.get("enum", [below["const"]] if "const" in below else [])
            yield ReportField(
                here,
                _type_text(schema, below),
                below.get("description", ""),
                tuple(json.dumps(value) for value in values),
            )
            yield from _fields(schema, below, here)


def _variants(schema: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """What a node stands for, its references followed: each thing that it may be."""
    if "$ref" in node:
        return _variants(schema, schema["$defs"][node["$ref"].rsplit("/", 1)[1]])
    choices = [*node.get("oneOf", []), *node.get("anyOf", [])]
    return [variant for choice in choices for variant in _variants(schema, choice)] if choices else [node]


def _type_text(schema: dict[str, Any], node: dict[str, Any]) -> str:
    """The type in words; values of a list or of a word are described elsewhere."""
    words: list[str] = []
    for variant in _variants(schema, node):
        given = variant.get("type", [])
        types = [given] if isinstance(given, str) else list(given)
        if not types:
            values = variant.get("enum", [variant.get("const")])
            types = ["string"] * any(isinstance(value, str) for value in values) + ["null"] * (None in values)
        if "array" in types:
            items = _type_text(schema, variant["items"]).split(" or ")
            types[types.index("array")] = "list of " + " and ".join(f"{item}s" for item in items)
        words += [word for word in types if word not in words]
    return " or ".join(words)


@dataclass(frozen=True)
class OptionRow:
    """An option of a gate as some kinds have it; kinds that differ in it have rows of their own.

    Attributes
    ----------
    name, default, expected, help : str
        The default as YAML writes it, or in words; what the value must be, in words.
    kinds : tuple of str
    """

    name: str
    default: str
    expected: str
    help: str
    kinds: tuple[str, ...]


def gate_options() -> list[OptionRow]:
    """Every option of every kind of gate, in the order of their declaration."""
    kinds: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    for kind, cls in KINDS.items():
        for name, known in options_of(cls).items():
            text, _, default = known.help.partition(" [default: ")  # in words, where the value says little
            row = (default.rstrip("]") or _yaml(known.default), known.check.expected, text + _absence(known))
            kinds.setdefault(name, {}).setdefault(row, []).append(kind)
    return [OptionRow(name, *row, tuple(having)) for name, rows in kinds.items() for row, having in rows.items()]


def _absence(known: Option) -> str:
    """Where the option cannot be given, as a sentence."""
    return "" if known.in_assertions else " Not in assertions."


def _yaml(default: Any) -> str:
    match default:
        case None | ():
            return "none"
        case bool():
            return str(default).lower()
        case float():
            return f"{default:g}"
    return str(default)


def documented(model: type) -> tuple[str, dict[str, str]]:
    """What the docstring of a class says of it, and of each of its attributes, those of its bases included."""
    meanings: dict[str, str] = {}
    about = ""
    for cls in reversed(model.__mro__):
        text = (cls.__doc__ or "").replace("``", "`")
        said, _, listed = text.partition("\n\n    Attributes\n    ----------\n")
        about = said or about
        for entry in re.split(r"\n(?=    \w)", listed.rstrip()):
            key, _, meaning = entry.strip().partition("\n")
            meanings |= {key: " ".join(meaning.split())} if key else {}
    return " ".join(about.split()), meanings


#: The mappings of a riskguard.yaml, by the name that a page gives them.
SETTINGS: dict[str, type[Model]] = {
    "file": Config,
    "collection": Collection,
    "qrels": QrelsFile,
    "run": DescribedRun,
    "scores": DescribedScores,
    "live": Retrieve,
    "http-candidate": HttpCandidate,
    "http": Http,
    "command": CommandCandidate,
    "gate": GateSettings,
}


def settings(model: type[Model]) -> list[tuple[str, str, str]]:
    """Each key of a mapping of riskguard.yaml, with its default as YAML writes it and its meaning."""
    _, meanings = documented(model)
    rows = []
    for key, field in model.model_fields.items():
        default = field.default
        if isinstance(default, tuple) and default:
            (default,) = default
        if default == Documents():
            default = None
        rows.append((key, "required" if field.is_required() else _yaml(default), meanings[key]))
    return rows


def gate_kinds() -> list[tuple[str, str]]:
    """Each kind of gate, and when it passes."""
    paragraphs = {kind: (cls.__doc__ or "").partition("\n\n")[0] for kind, cls in KINDS.items()}
    return [(f"`{kind}`", " ".join(text.replace("``", "`").split())) for kind, text in paragraphs.items()]


def fields_of(path: str) -> list[tuple[str, str]]:
    """The fields of a class, as its docstring lists them; several may share a line."""
    module, _, name = path.rpartition(".")
    _, meanings = documented(getattr(import_module(module), name))
    return [(names, meaning.replace("None", "null")) for names, meaning in meanings.items()]


def reasons() -> list[tuple[str, str, str]]:
    """Each code that says why a verdict is not a pass, with its outcome and meaning."""
    return [
        (f"`{code}`", outcome, meaning) for outcome, codes in REASONS_OF.items() for code, meaning in codes.items()
    ]


def warning_codes() -> list[tuple[str, str]]:
    """Each code of a warning, and what it means."""
    return [(f"`{code}`", meaning) for code, meaning in WARNINGS.items()]


def formats() -> list[tuple[str, str, str]]:
    """Each format of files, what is read from it (with ``#PART`` where a file may hold several) and what it is."""
    return [
        (
            f"`{known.name}`",
            ", ".join(f"{kind} `#`" if kind in known.parts else kind for kind in known.reads.split()),
            known.about,
        )
        for known in sorted(FORMATS, key=lambda known: known.name)
    ]


def columns() -> list[tuple[str, str]]:
    """What a column may hold, and its names."""
    return [(what, ", ".join(f"`{name}`" for name in names)) for what, names in SYNONYMS.items()]


def limits() -> list[tuple[str, str]]:
    """What input may hold, and at most how much of it."""
    return [(known.what, f"{known.default:,}") for known in vars(every_limit).values() if isinstance(known, Limit)]


#: Tables by the names that pages give them: head, widths of the columns, rows.
LISTED: dict[str, tuple[tuple[str, ...], tuple[int, ...], Callable[[], list[Any]]]] = {
    "gate-kinds": (("kind", "meaning"), (30, 70), gate_kinds),
    "reasons": (("reason", "outcome", "meaning"), (20, 15, 65), reasons),
    "warning-codes": (("code", "meaning"), (25, 75), warning_codes),
    "formats": (("format", "holds", "what it is"), (20, 25, 55), formats),
    "columns": (("what", "names"), (20, 80), columns),
    "limits": (("limit", "at most"), (65, 35), limits),
}


class _Parser:
    """Takes what the plugin declares, as pytest's parser does."""

    def __init__(self) -> None:
        self.options: list[tuple[str, str]] = []
        self.settings: list[tuple[str, str]] = []

    def getgroup(self, *_names: str) -> _Parser:
        return self

    def addoption(self, name: str, *, help: str, metavar: str = "", **_attributes: Any) -> None:
        self.options.append((f"{name}={metavar}" if metavar else name, help))

    def addini(self, name: str, *, help: str, **_attributes: Any) -> None:
        self.settings.append((name, help))


def plugin_settings() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Options of pytest and settings of its ini file that the plugin declares, with their help."""
    parser = _Parser()
    pytest_addoption(parser)  # type: ignore[arg-type]
    return parser.options, parser.settings


def modules() -> dict[str, dict[str, str]]:
    """The first line of each module's docstring, by folder and name; that of a folder is under an empty name."""
    folders: dict[str, dict[str, str]] = {}
    for path in sorted(PACKAGE.rglob("*.py"), key=lambda path: (path.parent.parts, path.name != "__init__.py", path)):
        folder = path.parent.relative_to(PACKAGE.parent).as_posix()
        name = "" if path.name == "__init__.py" else path.stem
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        folders.setdefault(folder, {})[name] = text.partition("\n")[0]
    return folders
