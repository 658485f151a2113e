"""Hosts that call the package: command line, evaluate, Trainer, harnesses, page."""
