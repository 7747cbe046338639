"""Scoring and judging beside other libraries on generated files: ``python -m tests.benchmarks.scale``."""
