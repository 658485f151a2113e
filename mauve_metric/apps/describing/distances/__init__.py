"""Distances of two sets, classifiers that tell them apart, and MAUVE without buckets."""
