"""Lexical measures that only descriptions have: Self-BLEU, entropy, Zipf, compression."""
