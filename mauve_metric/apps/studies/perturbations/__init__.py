"""The errors that a stress test puts into texts."""
