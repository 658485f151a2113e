"""Verdicts and sentences about results."""
