"""What a ruling applies: the limit that a gate asks about, how far it may lie, and limits of single topics."""
