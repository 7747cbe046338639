"""Measures that ir-measures cannot compute, or not for all grades."""
