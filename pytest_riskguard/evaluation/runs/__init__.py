"""Runs: TREC text and other formats, the order of their documents."""
