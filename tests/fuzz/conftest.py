"""Generated inputs: 15 for each test in the normal run, thousands with `--hypothesis-profile=long`."""

from __future__ import annotations

import tempfile

import hypothesis
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

set_hypothesis_home_dir(tempfile.gettempdir())  # nothing is left in the checkout

settings.register_profile(
    "quick",
    max_examples=15,
    deadline=None,
    database=None,
    derandomize=True,  # a run finds what the run before found
    suppress_health_check=list(HealthCheck),
)
settings.register_profile("long", settings.get_profile("quick"), max_examples=2500, derandomize=False)
if hypothesis.settings.get_current_profile_name() == "default":
    settings.load_profile("quick")
