"""The callback for the Trainer, and its reporters."""

from mauve_metric.runtime.optional_imports import import_trainer

import_trainer()  # `ImportError` that says how to install it
