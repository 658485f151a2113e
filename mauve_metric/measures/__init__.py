"""Distances between two sets: pure functions of arrays."""
