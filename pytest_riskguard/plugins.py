"""The plugins of other packages, found by the entry point group ``riskguard`` and loaded when one is first needed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pytest_riskguard.errors import UsageError
from pytest_riskguard.text import listed

if TYPE_CHECKING:
    from pytest_riskguard.gates.verdict import Verdict

GROUP = "riskguard"


class PluginError(UsageError):
    """A plugin cannot be loaded, or fails; the message names it."""

    def __init__(self, plugin: str, problem: str) -> None:
        super().__init__(f"plugin {plugin!r}: {problem}; mend or uninstall the package that has it")


@cache
def manager() -> Any:
    """The loaded plugins, in the order of their names; ``PluginError`` if one cannot be loaded."""
    import pluggy

    from pytest_riskguard import hookspecs

    plugins = pluggy.PluginManager("riskguard")
    plugins.add_hookspecs(hookspecs)
    for entry in sorted(
        metadata.entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value), reverse=True
    ):
        try:
            plugins.register(entry.load(), name=entry.name)
        except Exception as error:
            raise PluginError(entry.name, f"cannot be loaded from {entry.value} ({_said(error)})") from error
    known = {name for name in vars(hookspecs) if name.startswith("riskguard_")}
    for name, plugin in plugins.list_name_plugin():
        for part in dir(plugin):
            if part.startswith("riskguard_") and part not in known:
                raise PluginError(
                    name, f"{part} is no hook; expected one of {listed(tuple(sorted(known)), most=len(known))}"
                )
    return plugins


def answers(hook: str, **arguments: Any) -> Iterator[tuple[str, Any]]:
    """What each plugin answers to a hook, with its name; ``PluginError`` if one fails."""
    for implementation in reversed(getattr(manager().hook, hook).get_hookimpls()):
        try:
            answer = implementation.function(*(arguments[name] for name in implementation.argnames))
        except Exception as error:
            raise PluginError(implementation.plugin_name, f"{hook} fails ({_said(error)})") from error
        yield implementation.plugin_name, answer


@cache
def added(hook: str) -> dict[str, tuple[str, Any]]:
    """What plugins add, each with its plugin's name, by its own name; ``PluginError`` for a name given twice."""
    found: dict[str, tuple[str, Any]] = {}
    for plugin, answer in answers(hook):
        try:
            items = (
                [(name, answer[name]) for name in answer]
                if hasattr(answer, "keys")
                else [(one.name, one) for one in answer]
            )
        except Exception as error:
            raise PluginError(
                plugin, f"{hook} returned something else than the hook describes ({_said(error)})"
            ) from error
        for name, item in items:
            if name in found:
                raise PluginError(plugin, f"{hook} adds {name!r}, which plugin {found[name][0]!r} adds as well")
            found[name] = plugin, item
    return found


def refuse_taken(hook: str, names: Collection[str]) -> None:
    """``PluginError`` where a plugin adds something under a name that riskguard has itself."""
    for name, (plugin, _) in added(hook).items():
        if name in names:
            raise PluginError(plugin, f"{hook} adds {name!r}, which riskguard has itself")


def called(plugin: str, what: str, function: Any, *arguments: Any) -> Any:
    """What a function of a plugin returns; ``PluginError`` with ``what`` if it fails."""
    try:
        return function(*arguments)
    except Exception as error:
        raise PluginError(plugin, f"{what} fails ({_said(error)})") from error


def told(verdict: Verdict) -> Verdict:
    """The verdict itself, once every plugin that wants to know of verdicts has received it."""
    for _ in answers("riskguard_verdict", verdict=verdict):
        pass
    return verdict


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
