"""From riskguard.yaml to typed settings; every error carries the file and the line."""
