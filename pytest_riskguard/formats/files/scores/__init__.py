"""Formats of per-topic scores, one module for each."""
