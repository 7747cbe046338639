"""From runs and judgements to per-topic scores."""
