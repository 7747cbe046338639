"""Data that are objects in Python rather than files: mappings, frames, series, rows, and objects of ranx."""
