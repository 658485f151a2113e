"""The page in a browser: human texts and models' in, scores and pictures out."""
