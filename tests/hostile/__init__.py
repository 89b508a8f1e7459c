"""Files that nobody would write on purpose: a typed error, or the exact value, and no more."""
