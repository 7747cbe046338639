"""Shows verdicts; computes nothing."""
