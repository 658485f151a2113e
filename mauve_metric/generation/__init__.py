"""A model writes, and its texts are scored."""
