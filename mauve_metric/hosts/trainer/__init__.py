"""The callback for the Trainer, and its reporters."""
