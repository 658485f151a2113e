"""Figures, drawn with Altair."""
