"""Whether a finding holds: other settings, equal sets, known errors."""
