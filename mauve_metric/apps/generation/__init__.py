"""Generate texts with a model and score them."""

from mauve_metric.apps.generation.remote import openai_server

__all__ = ["openai_server"]
