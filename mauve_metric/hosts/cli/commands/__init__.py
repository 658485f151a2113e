"""The commands, one file each: `HELP`, `add_arguments`, `run`, and what is checked or written in its own way."""
