"""Collections of the package ir_datasets, ``irds:NAME``: what is on this machine, or may be downloaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from pytest_riskguard.errors import MissingFileError
from pytest_riskguard.formats.content import InputFile, Misfit, imported
from pytest_riskguard.formats.given_file import IRDS, names_collection
from pytest_riskguard.formats.records import Judgement, Kind, Records, TopicRow
from pytest_riskguard.text import did_you_mean

#: What ir_datasets calls the kinds.
_PARTS: dict[Kind, str] = {"judgements": "qrels", "topics": "queries"}


def fits(file: InputFile, _kind: Kind) -> Misfit | None:
    """Whether the path is the name of a collection."""
    return None if names_collection(file.path) else Misfit(f"it is not a collection named {IRDS}NAME")


def judgements(file: InputFile) -> Records[Judgement]:
    """A row for each judged document."""
    return Records(
        Judgement(str(row.query_id), str(row.doc_id), float(row.relevance)) for row in _rows(file, "judgements")
    )


def topics(file: InputFile) -> Records[TopicRow]:
    """A row for each query, with the text that ir_datasets searches with by default."""
    return Records(TopicRow(str(row.query_id), " ".join(row.default_text().split())) for row in _rows(file, "topics"))


def _rows(file: InputFile, kind: Kind) -> list[Any]:
    """The rows of one part of the collection; ``MissingFileError`` if it is unknown or not on this machine."""
    package = imported("ir_datasets", what=file.name)
    name, part = file.name.removeprefix(IRDS), _PARTS[kind]
    try:
        dataset = package.load(name)
    except KeyError:
        hint = did_you_mean(name, list(package.registry))
        raise MissingFileError(file.path, None, f"ir_datasets has no collection {name!r:.100}{hint}") from None
    if not getattr(dataset, f"has_{part}")():
        raise MissingFileError(file.path, None, f"this collection has no {part}")
    reading: AbstractContextManager[None] = nullcontext() if file.download else _without_downloads()
    try:
        with reading:
            return list(getattr(dataset, f"{part}_iter")())
    except _DownloadNeededError:
        command = f"riskguard convert {file.name} {part}.tsv --kind {kind} --download"
        raise MissingFileError(
            file.path,
            None,
            f"its {part} are not on this machine, and nothing is downloaded unless you ask for it: run `{command}`, "
            "or write `download: true` beside its path in riskguard.yaml",
        ) from None
    except Exception as problem:  # of the network, of a damaged file, of a file that people have to ask for
        reason = str(problem).partition("\n")[0]
        text = f"its {part} cannot be read ({type(problem).__name__}: {reason:.200})"
        raise MissingFileError(file.path, None, text) from None


class _DownloadNeededError(BaseException):
    """ir_datasets wants to download; no ``Exception``, since it tries other addresses after one."""


@contextmanager
def _without_downloads() -> Iterator[None]:
    """Let ir_datasets read what is on this machine, and nothing else."""
    from ir_datasets import lazy_libs
    from ir_datasets.util import download

    def refuse(*_: object) -> Any:
        raise _DownloadNeededError

    kept: list[tuple[Any, str, Callable[..., Any]]] = [(lazy_libs, "requests", lazy_libs.requests)]
    remote = [kind for kind in _kinds(download.BaseDownload) if kind is not download.LocalDownload]
    kept += [(kind, "stream", vars(kind)["stream"]) for kind in remote if "stream" in vars(kind)]
    for owner, name, _ in kept:
        setattr(owner, name, refuse)
    try:
        yield
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)


def _kinds(kind: Any) -> list[Any]:
    """A class and all that are derived from it."""
    return [kind, *(inner for below in kind.__subclasses__() for inner in _kinds(below))]
