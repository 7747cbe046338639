"""Measures of all topics at once, equal as floats to what their providers compute topic by topic."""
