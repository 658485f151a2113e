"""The tables of every score and measure: name, direction, range, paper, meaning, function."""
