"""Plug-ins for harnesses: lm-eval, Inspect, lighteval, torchmetrics."""
