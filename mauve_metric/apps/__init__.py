"""Applications of the core: each uses its functions, and none uses another.

`lexical`, `decoder_settings` and `job_progress` are what several of them share.
"""
