"""The parts of the page: layout, figures, words, and what its controls do."""
