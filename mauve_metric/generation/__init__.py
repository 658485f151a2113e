"""A model writes, and its texts are scored."""

from mauve_metric.generation.remote import openai_server

__all__ = ["openai_server"]
