"""What ``riskguard compare`` takes from riskguard.yaml where the command line says nothing."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_riskguard.cli.parameters import DEFAULT_MEASURE
from pytest_riskguard.gates.kinds import KINDS, OPTIONS, POLICY, NotSignificantlyRisky, options_of
from pytest_riskguard.text import listed

if TYPE_CHECKING:
    from pytest_riskguard.config.schema import ComputedBaseline, Config, GateSettings

#: The baselines of each question of a gate.
Asked = tuple[tuple["str | ComputedBaseline", ...], ...]
#: Parameters of ``compare`` that have other names than the keys of a gate.
_KEYS = {"measures": "measure", "alphas": "alpha"}
#: Options of a gate that are not taken as they are: ``compare`` judges slices only if asked to.
_OTHERWISE = ("alpha", "slice", "reference")


@dataclass(frozen=True)
class BesideGate:
    """A gate on single queries; one of the file has its own baselines and alphas, and measures if it names them."""

    name: str
    kind: str
    options: Mapping[str, Any]
    baselines: Asked = ()
    measures: tuple[str, ...] = ()
    alphas: tuple[float, ...] = (OPTIONS["alpha"].default,)


#: The gates of the default policy on single queries.
ON_SINGLE_QUERIES = tuple(BesideGate(*gate) for gate in POLICY[1:])


@dataclass(frozen=True)
class FileDefaults:
    """Settings of the first gate of a kind, and of its file; empty where there is no file.

    ``baselines`` has those of each question. ``beside`` are the gates on single queries, where no kind is asked for:
    the file's, or those of the default policy. ``values`` has everything else by the name of the parameter of
    ``compare``, with the tuples ``measures`` and ``alphas``.
    """

    file: str = ""
    kind: str = NotSignificantlyRisky.kind
    gate: str | None = None
    baselines: Asked = ()
    reference: str | None = None
    beside: tuple[BesideGate, ...] = ON_SINGLE_QUERIES
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, nDCG@10 where the file has none."""
        return tuple(self.values.get("measures") or (DEFAULT_MEASURE,))

    @property
    def stored(self) -> set[str]:
        """The names of all stored baselines of these gates."""
        asked = (self.baselines, *(gate.baselines for gate in self.beside))
        every = [baseline for questions in asked for question in questions for baseline in question]
        return {name for one in every for name in ((one,) if isinstance(one, str) else one.systems)}

    def unless(self, typed: Container[str], *, has_baselines: bool) -> dict[str, Any]:
        """The values of parameters that were not typed; the reference belongs to the file's baselines."""
        reference = {} if has_baselines or self.reference is None else {"reference": self.reference}
        return {name: value for name, value in {**self.values, **reference}.items() if name not in typed}

    def line(self, taken: Mapping[str, Any], *, has_baselines: bool) -> str | None:
        """What of the file decided, in words; None if it said nothing but what is the default anyway."""
        words = [f"{_KEYS.get(name, name)} {_shown(v)}" for name, v in taken.items() if v != self._default(name)]
        if not has_baselines and self.baselines:
            names = tuple(_name(one) for question in self.baselines for one in question)
            words.insert(0, f"{'baseline' if len(names) == 1 else 'baselines'} {listed(names, most=5)}")
        gate = "" if self.gate is None else f", gate {self.gate}"
        return f"from {self.file}{gate}: {', '.join(words)}" if words else None

    def _default(self, name: str) -> Any:
        """What holds for gates of the kind without a file."""
        match name:
            case "measures":
                return (DEFAULT_MEASURE,)
            case "alphas":
                return (options_of(KINDS[self.kind])["alpha"].default,)
            case "family":
                return "none"
        return options_of(KINDS[self.kind])[name].default


def defaults_of(config: Config, kind: str) -> FileDefaults:
    """What the file says about gates of this kind: its first such gate, then the whole file."""
    gate = next((gate for gate in config.gates if gate.kind == kind), None)
    measures = config.measures if gate is None or gate.measure is None else gate.measure
    shared = {"measures": measures} if measures else {}
    beside = ON_SINGLE_QUERIES
    if config.gates:
        beside = tuple(
            BesideGate(other.name, other.kind, _options(other), other.asked_of, other.measure or (), other.alpha)
            for other in config.gates
            if KINDS[other.kind].by_topic
        )
    if gate is None:
        return FileDefaults(config.path.name, kind, beside=beside, values=shared)
    is_member = config.family is not None and gate.name in config.family_members
    family = config.family.correction if is_member and config.family is not None else "none"
    values = {**shared, "alphas": gate.alpha, "family": family, **_options(gate)}
    return FileDefaults(config.path.name, kind, gate.name, gate.asked_of, gate.option("reference"), beside, values)


def _options(gate: GateSettings) -> dict[str, Any]:
    names = list(options_of(KINDS[gate.kind]))
    return {name: gate.option(name) for name in names if name not in _OTHERWISE}


def _name(baseline: str | ComputedBaseline) -> str:
    return baseline if isinstance(baseline, str) else f"{baseline.kind}({', '.join(baseline.systems)})"


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return listed(tuple(_shown(one) for one in value), most=5)
    return f"{value:g}" if isinstance(value, float) else str(value)
