"""Near duplicates, repeated and memorised passages."""
