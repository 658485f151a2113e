"""Base class, description and text statistics of the metric for Hugging Face's evaluate."""
