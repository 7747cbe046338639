"""Whether the documents of a run are those that were judged."""
