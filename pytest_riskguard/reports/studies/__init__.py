"""Reports of commands that judge nothing: drift of a baseline, a pool of systems, topics that a gate needs."""
