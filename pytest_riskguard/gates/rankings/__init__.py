"""Both rankings of a topic: side by side, the documents that moved, and those that nobody has judged."""

from pytest_riskguard.gates.rankings.entries import Rankings, TopicRanking, collected, restored

__all__ = ["Rankings", "TopicRanking", "collected", "restored"]
