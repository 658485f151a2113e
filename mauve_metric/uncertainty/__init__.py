"""How far a number can be believed."""
