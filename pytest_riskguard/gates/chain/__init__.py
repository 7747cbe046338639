"""Releases and accepted changes that follow each other."""
