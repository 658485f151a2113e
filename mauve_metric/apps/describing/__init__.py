"""Measures of each set by itself, and of two sets, in one table."""
