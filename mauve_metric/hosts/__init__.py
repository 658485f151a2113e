"""Where the package is called from: shell, Trainer, page."""
