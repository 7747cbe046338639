"""Relevance judgements, the grades that measures take, several judges."""
