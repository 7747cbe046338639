"""The plugins of other packages, found by the entry point group ``riskguard`` and loaded when one is first needed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pytest_riskguard.errors import UsageError

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
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name, reverse=True):
        try:
            plugins.register(entry.load(), name=entry.name)
        except Exception as error:
            raise PluginError(entry.name, f"cannot be loaded from {entry.value} ({_said(error)})") from error
    try:
        plugins.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginError(str(plugins.get_name(error.plugin)), str(error).partition(" in plugin")[0]) from None
    return plugins


def answers(hook: str, **arguments: Any) -> Iterator[tuple[str, Any]]:
    """What each plugin answers to a hook, with its name; ``PluginError`` if one fails."""
    for implementation in reversed(getattr(manager().hook, hook).get_hookimpls()):
        given, name = [arguments[name] for name in implementation.argnames], implementation.plugin_name
        yield name, called(name, hook, implementation.function, *given)


def added(hook: str, taken: Collection[str] = ()) -> dict[str, tuple[str, Any]]:
    """What plugins add, each with its plugin's name, by its own name.

    ``PluginError`` for a name given twice, and for one that riskguard has ``taken`` itself.
    """
    found = _added(hook)
    for name, (plugin, _) in found.items():
        if name in taken:
            raise PluginError(plugin, f"{hook} adds {name!r}, which riskguard has itself")
    return found


@cache
def _added(hook: str) -> dict[str, tuple[str, Any]]:
    found: dict[str, tuple[str, Any]] = {}
    for plugin, answer in answers(hook):
        for name, item in called(plugin, f"what {hook} returned", _by_name, answer):
            if name in found:
                raise PluginError(plugin, f"{hook} adds {name!r}, which plugin {found[name][0]!r} adds as well")
            found[name] = plugin, item
    return found


def _by_name(answer: Any) -> list[tuple[str, Any]]:
    return list(answer.items()) if hasattr(answer, "items") else [(one.name, one) for one in answer]


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
