"""Figures, drawn with Altair, which is imported with this folder: results import it when they draw."""

from mauve_metric.runtime.optional_imports import import_altair

import_altair()  # `ImportError` that says how to install it
