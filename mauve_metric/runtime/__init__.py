"""Access to the machine: packages, devices, processes, progress; independent of texts and scores."""
