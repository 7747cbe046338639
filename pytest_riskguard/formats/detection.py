"""Which format a file has: by its content first, then by its name."""

from __future__ import annotations

from pytest_riskguard.errors import FileError
from pytest_riskguard.formats.content import InputFile, Misfit
from pytest_riskguard.formats.known import Format, format_named, formats_of
from pytest_riskguard.formats.records import Kind

#: Formats whose readers find what is wrong with text that has no format at all: a conflict marker, another encoding.
_LINE_BY_LINE = frozenset({("trec", "judgements"), ("trec", "rankings"), ("tsv", "topics"), ("scores", "scores")})


def format_of(file: InputFile, kind: Kind, *, named: str | None = None) -> Format:
    """The format that ``named`` forces, else the first whose content fits, preferring those that fit the name.

    The error of ``file`` if none does: it names all formats tried, and says why the nearest one does not fit.
    """
    if named is not None:
        return format_named(named, kind)
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
        if file.looks_like_json and file.first_object is None:
            _ = file.json  # what is broken is said with its line
        nearest = max(misfits, key=lambda pair: pair[0].nearness)[1]
        if (nearest.name, kind) in _LINE_BY_LINE:
            return nearest  # its reader says which line is wrong, and how
        raise _refusal(file, kind, misfits)
    return min(fitting, key=lambda known: not plain_name.endswith(known.suffixes))


def _refusal(file: InputFile, kind: Kind, misfits: list[tuple[Misfit, Format]]) -> FileError:
    nearest, known = max(misfits, key=lambda pair: pair[0].nearness)
    names = ", ".join(candidate.name for _, candidate in misfits)
    return file.refuse(
        None,
        f"expected {kind} in one of these formats: {names}; the nearest is {known.name}, but {nearest.reason}; "
        "`--format NAME`, or `format:` in riskguard.yaml, reads it as one of them",
    )
