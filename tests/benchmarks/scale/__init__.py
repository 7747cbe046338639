"""Processor time and memory beside ir_measures, on generated files: ``python -m tests.benchmarks.scale``."""
