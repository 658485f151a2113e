"""Reliability of scores: bias, intervals, tests, warnings."""
