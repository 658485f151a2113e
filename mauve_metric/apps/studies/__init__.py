"""Studies around a score: human baseline, robustness, stress tests."""
