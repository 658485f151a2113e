"""The company of MAUVE: the measures that `describe` shows beside it."""
