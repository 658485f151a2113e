"""The commands, one file each: `HELP`, `add_arguments`, `run`, and any checks and outputs of its own."""
