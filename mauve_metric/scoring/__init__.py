"""Public functions, one file each, and `score`, which joins the stages for two sides in buckets."""
