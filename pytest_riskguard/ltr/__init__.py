"""Learning to rank with risk: baselines, query weights, objectives, and models compared."""
