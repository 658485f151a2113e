"""Applications of the core: each uses its functions, and none uses another; `lexical` counts words for several."""
