"""Texts in many files, on many machines."""
