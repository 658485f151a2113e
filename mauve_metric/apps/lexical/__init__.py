"""Statistics of words and n-grams of a set of texts."""
