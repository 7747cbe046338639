"""Numbers and chart data that a verdict carries and that decide nothing."""
