"""What is asked of a file: that it has a format, and which of its rankings or lists is meant (``FILE#NAME``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_riskguard.formats.content import InputFile, Misfit

_MOST_NAMED = 8


def require(misfit: Misfit | None, file: InputFile) -> None:
    """Refuse a file that was said to have a format that it does not have."""
    if misfit is not None:
        raise file.refuse(None, f"expected the format that was named, but {misfit.reason}")


def only_part(file: InputFile, names: Iterable[str], what: str) -> str:
    """The name that ``file.part`` gives, else the only one; the error of the file if there is no such, or several."""
    there = list(dict.fromkeys(names))
    listed = ", ".join(f"{name!r:.60}" for name in there[:_MOST_NAMED]) + (
        ", ..." if len(there) > _MOST_NAMED else ""
    )
    if not there:
        raise file.refuse(None, f"expected a {what}, found none")
    if file.part is not None:
        if file.part not in there:
            raise file.refuse(None, f"expected a {what} named {file.part!r:.60}, found {listed}")
        return file.part
    if len(there) > 1:
        example = f"{file.name}#{there[0]:.60}"
        raise file.refuse(None, f"expected one {what}, found {len(there)} ({listed}); name one, as in {example!r}")
    return there[0]


def labels(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """What each is called: by its name, or by its other name (an id, a time) where several share the first."""
    return [
        other or name if names.count(name) > 1 else name or other for name, other in zip(names, others, strict=True)
    ]
