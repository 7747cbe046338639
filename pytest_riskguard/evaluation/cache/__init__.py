"""What riskguard keeps on disk of runs that it has scored, so that it need not read them again."""
