"""From files, stored baselines and live results to verdicts: the one engine behind fixture, YAML and command line."""

from pytest_riskguard.engine.judging import Engine

__all__ = ["Engine"]
