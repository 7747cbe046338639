"""A verdict shown; nothing is computed here."""
