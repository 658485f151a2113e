"""Near duplicates and repeated passages."""
