"""Which format a file has: by its content first, then by its name."""

from __future__ import annotations

import re

from pytest_riskguard.data.columns import SYNONYMS, number
from pytest_riskguard.data.content import InputFile, Misfit
from pytest_riskguard.data.given_file import names_collection
from pytest_riskguard.data.input_files import compression_hint
from pytest_riskguard.data.known import FORMATS, OWN, Format, format_named, formats_of
from pytest_riskguard.data.records import KINDS, Kind
from pytest_riskguard.errors import FileError

#: How UTF-16 text begins, as programs on Windows write it.
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
#: What stands at the beginning of the ZIP file that a spreadsheet is.
_MEMBERS = (b"[Content_Types].xml", b"xl/", b"opendocument.spreadsheet")
#: Formats whose columns may have any names.
_WITH_COLUMNS = frozenset({"csv", "tsv", "jsonl", "parquet", "arrow"})


def format_of(file: InputFile, kind: Kind, *, named: str | None = None) -> Format:
    """The format that ``named`` forces, else the first whose content fits, preferring those that fit the name.

    The error of ``file`` if none does: it names all formats tried, and says why the nearest one does not fit.
    The same for a part of a file that has none.
    """
    if named is None and names_collection(file.path):
        named = "irds"
    known = format_named(named, kind) if named is not None else _found(file, kind)
    if file.part is not None and kind not in known.parts:
        raise file.refuse(
            None, f"expected a file with several {kind}, found one ({known.name}): leave out #{file.part}"
        )
    return known


def _found(file: InputFile, kind: Kind) -> Format:
    plain_name = file.name.lower().removesuffix(".gz")
    fitting: list[Format] = []
    misfits: list[tuple[Misfit, Format]] = []
    for known in formats_of(kind):
        misfit = known.fits(file, kind)
        if misfit is None:
            fitting.append(known)
        else:
            misfits.append((misfit, known))
    if not fitting:
        if file.start.startswith(_UTF16):
            raise file.refuse(1, "expected UTF-8 text, found UTF-16; save it as UTF-8")
        if _is_spreadsheet(file.start):
            raise file.refuse(None, "expected text, found a spreadsheet; save it as CSV (UTF-8)")
        if packed := compression_hint(file.start):
            raise file.refuse(1, f"expected UTF-8 text{packed}")
        if file.looks_like_json and file.first_object is None:
            _ = file.json  # what is broken is said with its line
        nearest = max(misfits, key=lambda pair: (pair[0].nearness, (pair[1].name, kind) in OWN))[1]
        if (nearest.name, kind) in OWN:
            return nearest  # its reader says which line is wrong, and how
        raise _refusal(file, kind, misfits)
    return min(fitting, key=lambda known: not plain_name.endswith(known.suffixes))


def _is_spreadsheet(start: bytes) -> bool:
    """Whether a file is what Excel or LibreOffice saves: a ZIP file with certain members, or an old binary one."""
    is_package = start.startswith(b"PK") and any(member in start for member in _MEMBERS)
    return is_package or start.startswith(b"\xd0\xcf\x11\xe0")


def kinds_of(file: InputFile, *, named: str | None = None) -> tuple[Kind, ...]:
    """What a file may hold: every kind that a format fits, without those that its columns contradict."""
    pairs = [(known, kind) for known in FORMATS for kind in known.reads]
    if names_collection(file.path):
        named = "irds"
    if named is not None:
        return tuple(kind for known, kind in pairs if known.name == named)
    fitting = [(known, kind) for known, kind in pairs if known.fits(file, kind) is None]
    certain = {kind for known, kind in fitting if _is_certain(known, file, kind)}
    kinds = tuple(kind for kind in KINDS if kind in (certain or {kind for _, kind in fitting}))
    names = _column_names(file)
    if any(known.name == "ranx-scores" for known, _ in fitting):  # its keys are names of measures
        return ("scores",)
    if {"judgements", "rankings"} <= {*kinds}:
        says_most = next(known for known, kind in fitting if kind in kinds)
        if len(either := {"judgements", "rankings"} & {*says_most.reads}) == 1:
            return tuple(kind for kind in KINDS if kind in either)
        if names & {*SYNONYMS["rank"]}:
            return ("rankings",)
        is_graded = names & ({*SYNONYMS["grade"]} - {*SYNONYMS["score"]})
        return ("judgements",) if is_graded else ("judgements", "rankings")
    if {"topics", "scores"} <= {*kinds} and names & {*SYNONYMS["topic"]}:
        return ("topics",) if names & {*SYNONYMS["query"]} else ("scores",)
    return tuple(kind for kind in kinds if kind != "topics") or kinds


def _column_names(file: InputFile) -> set[str]:
    """What may name columns: the cells of the first line, or the keys of its JSON object, in lower case."""
    cells = file.first_object or re.split(r"[,;\t]", file.first_line)
    return {cell.strip(' "').lower() for cell in cells}


def _is_certain(known: Format, file: InputFile, kind: Kind) -> bool:
    """Whether hardly a file of another kind has this format."""
    if known.name != "trec":  # which is recognised by the number of columns alone
        return (known.name, kind) not in OWN
    value = number(file.first_line.split()[3 if kind == "judgements" else 4])
    return value == value


def _refusal(file: InputFile, kind: Kind, misfits: list[tuple[Misfit, Format]]) -> FileError:
    nearest, known = max(misfits, key=lambda pair: pair[0].nearness)
    names = ", ".join(candidate.name for _, candidate in misfits)
    remedy = "`format:` in riskguard.yaml forces another"
    if kind in ("rankings", "scores"):
        remedy = "`--set format=NAME`, or `format:` in riskguard.yaml, forces another"
    if known.name in _WITH_COLUMNS:  # forcing a format would not help
        remedy = "rename its columns, or say with `columns:` in riskguard.yaml which is which"
    return file.refuse(
        None,
        f"expected {kind} in a format that riskguard reads; the nearest is {known.name}, but {nearest.reason}; "
        f"{remedy}; tried: {names}",
    )
