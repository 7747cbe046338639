"""What riskguard keeps on disk of runs that it has scored and gates that it has judged, so as not to do it again."""
