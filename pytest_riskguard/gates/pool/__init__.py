"""Gates over a pool of systems: GeoRisk of a candidate against references among its baselines."""
