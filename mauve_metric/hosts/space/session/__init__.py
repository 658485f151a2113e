"""The texts, runs and results of a visitor."""
