"""What the metric for Hugging Face's evaluate needs beside its class."""
