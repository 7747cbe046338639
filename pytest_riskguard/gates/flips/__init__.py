"""What would flip a verdict: one topic left out, a set of topics, another alpha."""
