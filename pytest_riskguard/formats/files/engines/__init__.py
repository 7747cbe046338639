"""Responses of search engines that a team has kept, one module for each engine."""
