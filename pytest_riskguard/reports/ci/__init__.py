"""Verdicts for CI systems: annotations and outputs of GitHub Actions, properties of JUnit."""
