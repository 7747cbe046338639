"""Verdicts for CI systems: annotations of GitHub Actions, JUnit, the comment on a pull request."""
