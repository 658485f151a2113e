"""Texts as texts: read, checked, fingerprinted, counted."""
