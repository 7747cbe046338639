"""Commands that judge gates: those of riskguard.yaml, and one that the command line asks about."""
