"""Statistics of people's judgements: preference scores, boundary guesses, rank correlation."""
