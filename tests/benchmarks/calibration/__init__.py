"""How often gates are wrong, by simulation: the tables in docs/data/calibration, which pages of the docs show."""
