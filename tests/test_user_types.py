"""The types that a user's type checker and editor get from the package."""

from __future__ import annotations

import os
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from mauve_metric.options import MauveConfig, Options, OptionsOfOneProcess, RunOptions

ROOT = Path(__file__).parents[
    next(n for n, up in enumerate(Path(__file__).parents) if (up / "pyproject.toml").is_file())
]

RIGHT = """
from pathlib import Path
import numpy as np
import torch
from mauve_metric import Comparison, Explanation, MauveResult, FeatureSet, compare, compute_mauve, explain, featurize

human, model = np.zeros((9, 2)), np.ones((9, 2))
out: MauveResult = compute_mauve(p_features=human, q_features=model, seed=3, num_buckets="auto", cache=Path("x"))
out = compute_mauve(p_features=torch.zeros(9, 2), q_features=Path("q.npy"), knn=True, score_device="cuda:0")
out = compute_mauve(p_text=["a", "b"], q_text=(text for text in ["c"]), featurize_model_name="minilm", verbose=True)
out = compute_mauve(p_text=["a"], q_text=["b"], featurize_model_name=lambda texts: [[len(text)] for text in texts])
reference: FeatureSet = featurize(["a", "b"], pooling="mean", distributed=True)
reference = FeatureSet.from_texts(["a", "b"], use_float64=True)
comparison: Comparison = compare(p=reference, models={"a": ["x", "y"], "b": model, "c": reference}, row_order="pq")
explanation: Explanation = explain(human, model, buckets=3, mauve_scaling_factor=2)
"""
WRONG = {
    "compute_mauve(p_features=human, q_features=human, num_bucket=3)": 'Unexpected keyword argument "num_bucket"',
    "compute_mauve(p_features=human, q_features=human, seed='x')": 'Argument "seed" to "compute_mauve" has incompat',
    "compute_mauve(p_features=human, q_features=human, pooling='max')": 'Argument "pooling" to "compute_mauve"',
    "compute_mauve(p_features=3, q_features=human)": 'Argument "p_features" to "compute_mauve"',
    "compare(p_features=human, models=[human])": 'Argument "models" to "compare"',
    "compare(p_features=human, models={}, score_devices='cpu')": 'Unexpected keyword argument "score_devices"',
    "explain(human, human, bucket=3)": 'Unexpected keyword argument "bucket"',
    "featurize(['a'], batch_size='many')": 'Argument "batch_size" to "featurize"',
    "FeatureSet.from_texts(['a'], devise='cpu')": 'Unexpected keyword argument "devise"',
}

SLOW = ("torch", "transformers", "gradio", "altair", "pandas", "scipy")  # to check; their types are not asked for here


def test_the_keywords_are_the_fields() -> None:
    fields = typing.get_type_hints(MauveConfig) | typing.get_type_hints(RunOptions) | {"use_float64": bool}
    assert typing.get_type_hints(Options) == fields
    assert set(typing.get_type_hints(OptionsOfOneProcess)) == set(fields) - {"distributed", "prompts"}


@pytest.mark.slow
def test_a_users_script_is_checked(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(RIGHT)
    names = "from mauve_metric import FeatureSet, compare, compute_mauve, explain, featurize\nimport numpy as np\n"
    (tmp_path / "wrong.py").write_text(f"{names}human = np.zeros((9, 2))\n" + "\n".join(WRONG) + "\n")
    settings = "[mypy]\nignore_missing_imports = True\nfollow_imports = silent\n"  # the package's own errors aside
    settings += "".join(f"[mypy-{name}.*]\nfollow_imports = skip\n" for name in SLOW)
    (tmp_path / "mypy.ini").write_text(settings)
    command = [sys.executable, "-m", "mypy", f"--cache-dir={tmp_path / 'cache'}", "right.py", "wrong.py"]
    found = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    errors = [line for line in found.stdout.splitlines() if ": error: " in line]
    assert [line for line in errors if line.startswith("right.py")] == [], found.stdout + found.stderr
    for number, (call, message) in enumerate(WRONG.items(), start=4):
        told = [line for line in errors if line.startswith(f"wrong.py:{number}:")]
        assert any(message in line for line in told), (call, found.stdout + found.stderr)
