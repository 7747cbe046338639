"""Search engines that are queried over HTTP, as a riskguard.yaml describes them, without any code of a team's own."""
