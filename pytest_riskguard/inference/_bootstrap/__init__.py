"""Bootstrap laws of a mean, a studentized mean and GeoRisk: computed where possible, else from fixed draws."""
