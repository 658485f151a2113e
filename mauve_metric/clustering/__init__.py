"""Quantizers: rows of features to buckets."""
