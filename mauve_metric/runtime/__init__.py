"""The machine under the work: packages, devices, processes, progress. It knows no text and no score."""
