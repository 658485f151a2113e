"""Texts and tokens become rows of numbers with an origin."""
