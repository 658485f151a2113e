"""Rows become buckets."""
