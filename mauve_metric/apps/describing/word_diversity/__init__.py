"""Measures of the variety of words that only descriptions have: Self-BLEU, entropy, Zipf, compression."""
