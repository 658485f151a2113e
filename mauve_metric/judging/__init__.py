"""People as judges: of models, and of where a machine took over."""
