"""Intervals and p-values: arrays in, numbers or small frozen results out; no files, no pytest."""
