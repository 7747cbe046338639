"""The JSON report, a contract with the tools that read it, and a strict reader for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_riskguard import __version__
from pytest_riskguard.data.input_files import read_limited
from pytest_riskguard.errors import ReportFormatError
from pytest_riskguard.gates.findings import Exhibits
from pytest_riskguard.gates.kinds import limit_of
from pytest_riskguard.gates.verdict import Verdict
from pytest_riskguard.limits import REPORT_BYTES, TOPICS
from pytest_riskguard.reports import comparisons
from pytest_riskguard.reports.comparisons import KnownGate, Report
from pytest_riskguard.reports.numbers import short
from pytest_riskguard.reports.provenance import Provenance
from pytest_riskguard.serialization import JsonError, decoded, parsed, to_plain
from pytest_riskguard.text import counted, named

SCHEMA = "riskguard-report/1"
_WRITTEN = "`-o report.json` of check and compare writes one, `pytest --riskguard-report=report.json` as well"
#: Sizes beyond it would be infinite once charts multiply them; scores are at most 1e50.
MAX_SIZE = 1e150
#: How far a figure that decides may lie from the bound by rounding; of a p-value, as a share of it.
ROUNDED, ROUNDED_P = 1e-9, 1e-3


def document(schema: str, content: Any) -> str:
    """JSON text that names its schema and this package; the content is a mapping or a dataclass.

    Numbers keep 12 digits, and null stands for those that are not finite. The text is ASCII, so that any console can
    print it, and of two ``#`` in a row, which begin a command of some CI systems, the first is an escape.
    """
    known = {key: to_plain(part) for key, part in content.items()} if isinstance(content, dict) else to_plain(content)
    return _text(_headed(schema, known))


def _text(headed: Mapping[str, Any]) -> str:
    return json.dumps(headed, indent=2, allow_nan=False).replace("##", "\\u0023#") + "\n"


def _headed(schema: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return {"schema": schema, "generated_by": f"pytest-riskguard {__version__}", **content}


def plain(report: Report) -> dict[str, Any]:
    """The report as plain types, its keys in the order of the schema."""
    known = {key: to_plain(value) for key, value in report._asdict().items() if value and key != "verdicts"}
    return _headed(SCHEMA, {"verdicts": [verdict.to_dict() for verdict in report.verdicts]} | known)


def dumps(report: Report) -> str:
    """The report as text."""
    return _text(plain(report))


def read(path: Path) -> Report:
    """The verdicts of a report, its gates and where it comes from.

    ``MissingFileError`` if it is not a regular file that can be read; ``ReportFormatError``, which says where, if it
    is too large, not a report of this format version, or holds values that no verdict has.
    """
    try:
        data = parsed(read_limited(path, REPORT_BYTES, error=ReportFormatError))
        verdicts = verdicts_of(data)
        provenance = decoded(Provenance, data["provenance"], where="provenance") if "provenance" in data else None
        changes = decoded(tuple[str, ...], data.get("policy_changes", []), where="policy_changes")
        gates = decoded(tuple[KnownGate, ...], data.get("gates", []), where="gates")
        comparisons.check(gates, len(verdicts))
        return Report(verdicts, gates, provenance, changes)
    except JsonError as error:
        raise ReportFormatError(path, None, f"expected a JSON report of riskguard: {error}", _WRITTEN) from None
    except ValueError as error:
        raise ReportFormatError(path, None, str(error)) from None


def verdicts_of(report: dict[str, Any]) -> list[Verdict]:
    """The verdicts of a report as plain types; the ``ValueError`` for anything else says what is wrong, and where."""
    schema = report.get("schema")
    if isinstance(schema, str) and schema != SCHEMA and re.fullmatch(r"riskguard-report/\d{1,9}", schema):
        raise ValueError(
            f"expected the format {SCHEMA}, found {schema}: it was written by a newer riskguard; upgrade to read it"
        )
    if schema != SCHEMA:
        raise ValueError(f"expected a JSON report of riskguard (schema: {SCHEMA!r}), found schema {schema!r:.60}")
    given = report.get("verdicts")
    if not isinstance(given, list):
        raise ValueError(f"verdicts: expected a list, found {given!r:.60}")
    verdicts = []
    for place, data in enumerate(given):
        try:
            verdict = Verdict.from_dict(data)
            _check(verdict)
        except ValueError as error:
            raise ValueError(f"verdicts[{place}]: {error}") from None
        verdicts.append(verdict)
    return verdicts


def _check(verdict: Verdict) -> None:
    """Check what reports rely on: points, columns, and counts that fit one another."""
    _check_outcome(verdict)
    topics = verdict.topics
    if topics.count > TOPICS.value:  # a strip draws a list of all topics
        raise ValueError(f"topics.count: {TOPICS.problem(topics.count)}")
    if topics.wins + topics.losses + topics.ties != topics.count:
        problem = f"expected wins, losses and ties that add up to it, found {topics.count}"
        raise ValueError(f"topics.count: {problem}")
    if topics.changed > topics.count:
        raise ValueError(f"topics.changed: expected at most {topics.count}, found {topics.changed}")
    is_judged_pool = verdict.asked.is_pool and verdict.outcome in ("pass", "fail")
    if is_judged_pool and verdict.candidate not in (verdict.estimates.georisk or {}):
        raise ValueError("estimates.georisk: expected one of the candidate, found none")
    if verdict.exhibits is not None:
        _check_columns(verdict.exhibits, () if verdict.asked.is_pool else ("lower", "upper", "urisk"))


def _check_outcome(verdict: Verdict) -> None:
    """Check that the outcome is the one that the gate's rule gives for the figures that decide."""
    outcome = verdict.outcome
    for field, belongs in (("reason", outcome != "pass"), ("problem", outcome == "incomparable")):
        if (getattr(verdict, field) is not None) != belongs:
            raise ValueError(f"{field}: expected {'one' if belongs else 'none'} beside the outcome {outcome!r}")
    if outcome not in ("pass", "fail"):
        return
    for figure, says in _deciding(verdict):
        if says != outcome:
            raise ValueError(f"outcome: expected {says!r}, which {figure} gives, found {outcome!r}")


def _deciding(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """The figures that decide, in words, each with the outcome that follows from it alone.

    Within rounding, and where more than one condition must hold, nothing follows.
    """
    gate, estimates = verdict.asked, verdict.estimates
    if verdict.identical_to:
        return
    if gate.by_topic:
        if estimates.flip_set is not None:
            number = len(estimates.flip_set)
            yield f"a flip set of {counted(number, 'topic')}", "fail" if number else "pass"
        return
    family, p = verdict.family, estimates.decision_p_value
    if p is not None and family is not None:  # where it draws, both must fail
        p = max(p, family.adjusted_p_value)
    if p is not None and not gate.is_pool and abs(p - (1 - gate.level)) > ROUNDED_P * (1 - gate.level):
        yield f"a p-value of {short(p)} at level {short(gate.level)}", "fail" if p < 1 - gate.level else "pass"
    let_through = (family is not None and family.draws) or any(
        warning.code == "churn" for warning in verdict.warnings
    )
    if (decisive := verdict.decisive_interval) is not None:
        decided = limit_of(gate, decisive)
        margin = verdict.tolerance + (-abs(decided) if gate.side == "both" else decided)
        limit = f"a decisive interval of {short(decisive.lower)} to {short(decisive.upper)}"
        if margin < -ROUNDED and not let_through:
            yield limit, "fail"
        elif margin > ROUNDED and not (gate.must_show or verdict.replicates):
            yield limit, "pass"


def _check_columns(exhibits: Exhibits, lines: Sequence[str]) -> None:
    """Check that lists which charts and the strip read in parallel have the same length, and their numbers a size."""
    if lines and exhibits.curves and sorted(exhibits.curves) != [*lines]:
        found = named(sorted(exhibits.curves), most=5)
        raise ValueError(f"exhibits.curves: expected {', '.join(lines)}, found {found}")
    columns = [(name, value) for name, value in vars(exhibits).items() if isinstance(value, tuple)]
    for name in ("tags", "curves"):
        columns += [(f"{name}[{key!r:.60}]", column) for key, column in getattr(exhibits, name).items()]
    for name, column in columns:
        like = "alphas" if name.startswith(("alphas", "curves")) else "topics"
        if len(column) != (known := len(getattr(exhibits, like))):
            raise ValueError(f"exhibits.{name}: expected {known} values as {like} has, found {len(column)}")
        huge = [abs(value) for value in column if isinstance(value, int | float) and abs(value) > MAX_SIZE]
        if huge:
            raise ValueError(f"exhibits.{name}: expected numbers up to {MAX_SIZE:g}, found {max(huge):g}")
