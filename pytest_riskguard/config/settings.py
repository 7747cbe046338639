"""What a riskguard.yaml says, as plain values that the rest of the package uses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_riskguard.config.ids import readable, unique
from pytest_riskguard.gates.spec import SMALLEST_SLICE, TESTED, Correction, Gate


@dataclass(frozen=True)
class Collection:
    """The judgements, and the query texts where there are any; absolute paths. ``line`` counts from 1."""

    qrels: Path
    topics: Path | None = None
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class CandidateFile:
    """The candidate is a run file; an absolute path, and the line of the file that names it."""

    path: Path
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class CandidateRetrieve:
    """The candidate is a function: ``target`` (``package.module:function``) is called with each query.

    Attributes
    ----------
    target : str
        Where the function is imported from; nothing is imported by reading the settings.
    depth : int
        How many documents are kept for each topic.
    workers, timeout, retries : int, float or None, int
        How many queries are asked at a time, the seconds that an answer may take, and further tries.
    """

    target: str
    depth: int = 100
    workers: int = 1
    timeout: float | None = None
    retries: int = 0


Candidate = CandidateFile | CandidateRetrieve


@dataclass(frozen=True)
class ComputedBaseline:
    """A baseline computed topic by topic from stored ones: their ``mean``, ``median`` or ``max``."""

    kind: str
    systems: tuple[str, ...]
    candidate_inside: bool = False


@dataclass(frozen=True)
class DeclaredSlice:
    """``TAG=VALUE``, or ``TAG`` for each of its values, and the line of the file."""

    text: str
    line: int = field(default=1, compare=False)


@dataclass(frozen=True)
class GateItem:
    """One question of one gate: a single measure and a single alpha, of all topics or of one slice.

    Attributes
    ----------
    id : str
        The gate's name, followed by ``[MEASURE-ALPHA]``, and the baseline and the slice, where the gate asks more
        than one question.
    gate : Gate
        The question as ``gates.judge`` takes it; its name is ``id``.
    measure : str
        As written in the file; whether ir-measures knows it is found out when it is scored.
    baselines : tuple of str or ComputedBaseline
        Stored names: one, but for a gate over a pool.
    line : int
        Where the gate begins in the file, counted from 1.
    settings : GateSettings
        The gate that this is one question of.
    """

    id: str
    gate: Gate
    measure: str
    baselines: tuple[str | ComputedBaseline, ...]
    line: int
    settings: GateSettings


@dataclass(frozen=True)
class GateSettings:
    """One entry of ``gates``.

    Attributes
    ----------
    name : str
    line : int
        Where it begins in the file, counted from 1.
    baselines : tuple of str or ComputedBaseline
        Stored names: a pool, or baselines that are each asked about; or a single computed one.
    measures : tuple of str
    candidate : CandidateFile, CandidateRetrieve or None
        None where the gate asks about the candidate of the whole file.
    questions : tuple of Gate
        What is asked of each measure, one for each alpha.
    declared : tuple of DeclaredSlice
        Parts of the topics that are asked about; empty for all topics.
    smallest_slice : int
        The fewest judged topics of a slice that ``TAG`` alone stands for.
    slices : tuple of str
        ``TAG=VALUE``: what ``slicing.with_slices`` found the declared ones to be.
    """

    name: str
    line: int
    baselines: tuple[str | ComputedBaseline, ...]
    measures: tuple[str, ...]
    candidate: Candidate | None
    questions: tuple[Gate, ...]
    declared: tuple[DeclaredSlice, ...] = ()
    smallest_slice: int = SMALLEST_SLICE
    slices: tuple[str, ...] = ()

    def items(self) -> tuple[GateItem, ...]:
        """One question per measure and alpha, in the order of the file, baseline where they are no pool and slice.

        Raises
        ------
        ValueError
            Slices are declared that ``slicing.with_slices`` has not looked up.
        """
        if self.declared and not self.slices:
            raise ValueError(f"gate {self.name!r} has slices that nobody looked up")
        pairs = [(measure, question) for measure in self.measures for question in self.questions]
        asked, ids = [], []
        for measure, question in pairs:
            first = [f"{measure}-{_short(question.alpha)}"] if len(pairs) > 1 else []
            for baselines in self._asked_of:
                second = [str(baselines[0])] if len(self._asked_of) > 1 else []
                for one in self.slices or (None,):
                    parts = [*first, *second, *self._part(one)]
                    ids.append(f"{self.name}[{'-'.join(parts)}]" if parts else self.name)
                    asked.append((measure, question, baselines, one))
        found = unique(ids, [f"{baselines} {one}" for _, _, baselines, one in asked])
        return tuple(
            GateItem(item_id, replace(question, name=item_id, slice=one), measure, baselines, self.line, self)
            for item_id, (measure, question, baselines, one) in zip(found, asked, strict=True)
        )

    def _part(self, one: str | None) -> list[str]:
        """What tells a slice's item from the others: its value, with its tag where there are several tags."""
        if one is None or (len(self.slices) == 1 and "=" in self.declared[0].text):
            return []
        tags = {known.partition("=")[0] for known in self.slices}
        return [readable(one.partition("=")[2] if len(tags) == 1 else one)]

    @property
    def _asked_of(self) -> tuple[tuple[str | ComputedBaseline, ...], ...]:
        """The baselines of each question: a pool as a whole, others one by one."""
        if self.kind == "georisk_not_worse":
            return (self.baselines,)
        return tuple((baseline,) for baseline in self.baselines)

    @property
    def kind(self) -> str:
        """What the gate asks; the same of every measure and alpha."""
        return self.questions[0].kind

    @property
    def alphas(self) -> tuple[float, ...]:
        """All that are asked."""
        return tuple(question.alpha for question in self.questions)


@dataclass(frozen=True)
class FamilySettings:
    """The gates that are judged together, by name, and how their levels are corrected for being several."""

    correction: Correction
    gates: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """A whole riskguard.yaml.

    Attributes
    ----------
    path : Path
        The file, absolute.
    collection : Collection
    store : Path
        The folder of stored baselines, absolute; it need not exist.
    measures : tuple of str
        The measures of every gate that names none; empty where each gate names its own.
    candidate : CandidateFile, CandidateRetrieve or None
        None where each gate names its own.
    family : FamilySettings or None
        None where every gate is judged at its own level.
    gates : tuple of GateSettings
        In the order of the file.
    """

    path: Path
    collection: Collection
    store: Path
    measures: tuple[str, ...]
    candidate: Candidate | None
    family: FamilySettings | None
    gates: tuple[GateSettings, ...]

    def family_of(self, item: GateItem) -> tuple[Correction, tuple[GateItem, ...]]:
        """The correction, and the questions that are judged together with this one; none outside a family.

        A risk gate that asks about several baselines or slices is a family of its own, by Holm's method, for each
        measure and alpha: it fails when the candidate is risky against any of them.
        """
        if self.family is not None and item.settings.name in self.family.gates:
            members = [other for gate in self.gates if gate.name in self.family.gates for other in gate.items()]
            return self.family.correction, tuple(members)
        asked = (item.measure, item.gate.alpha)
        together = tuple(o for o in item.settings.items() if (o.measure, o.gate.alpha) == asked)
        return ("holm", together) if item.gate.kind in TESTED and len(together) > 1 else ("none", ())

    @property
    def all_measures(self) -> tuple[str, ...]:
        """``measures``, then those that only single gates name: what a baseline must be scored with."""
        named = [*self.measures, *(measure for gate in self.gates for measure in gate.measures)]
        return tuple(dict.fromkeys(named))


def _short(alpha: float) -> str:
    """The shortest text that still tells two alphas apart: ``5``, ``0.1``, ``1e-05``."""
    return repr(float(alpha)).removesuffix(".0")
