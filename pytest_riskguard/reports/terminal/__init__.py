"""Verdicts for a terminal: the text of a failure and the table of all gates."""
