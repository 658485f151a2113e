"""The page in a browser: human texts and models' in, scores and pictures out."""

from mauve_metric.runtime.optional_imports import import_gradio

import_gradio()  # `ImportError` that says how to install it
