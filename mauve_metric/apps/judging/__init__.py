"""Human judgements: preferences and boundary guesses, compared with scores."""
