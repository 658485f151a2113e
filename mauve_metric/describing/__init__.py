"""Every measure of a set of models in one table."""
