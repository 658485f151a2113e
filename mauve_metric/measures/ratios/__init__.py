"""MAUVE from estimated density ratios, without buckets."""
