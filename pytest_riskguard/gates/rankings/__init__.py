"""Both rankings of a topic: side by side, the documents that moved, and those that nobody has judged."""

from pytest_riskguard.gates.rankings.side_by_side import Rankings, collected, of_systems, restored

__all__ = ["Rankings", "collected", "of_systems", "restored"]
