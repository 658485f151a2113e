"""Results as plain data, and their renderers."""
