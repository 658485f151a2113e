"""Log-probabilities of texts under a language model."""
