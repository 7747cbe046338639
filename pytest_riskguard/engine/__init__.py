"""From files, stored baselines and live results to verdicts: the one engine behind fixture, YAML and command line.

The engine loads on first use.
"""

from typing import TYPE_CHECKING

from pytest_riskguard.lazily import lazily

if TYPE_CHECKING:
    from pytest_riskguard.engine.judging import Engine

__all__ = ["Engine"]

__getattr__ = lazily(__name__, {"engine.judging": "Engine"})
