"""The version, in one place, readable without importing anything else."""

__version__ = "0.1.0"
