"""A question about a candidate and its answer: scores in, a ``Verdict`` out; no files, no pytest."""
