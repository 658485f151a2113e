"""How far apart two sets are: pure functions of arrays."""
