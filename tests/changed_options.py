"""Another value than the default of each option of a score."""

from __future__ import annotations

from typing import Any

CHANGES: dict[str, Any] = {
    "num_buckets": 7,
    "row_order": "pq",
    "quantizer": "drmm",
    "drmm_layers": 2,
    "drmm_components": 4,
    "drmm_steps": 30,
    "drmm_preset": "paper",
    "lattice_squared_radius": 5,
    "lattice_epochs": 2,
    "lattice_hidden": 4,
    "lattice_spread": 0.05,
    "lattice_preset": "paper",
    "pca_max_data": 20,
    "kmeans_explained_var": 0.5,
    "kmeans_num_redo": 2,
    "kmeans_max_iter": 7,
    "independent": True,
    "seed": 1,
    "divergence_curve_discretization_size": 50,
    "mauve_scaling_factor": 2.5,
    "featurize_model_name": "minilm",
    "max_text_length": 7,
    "pooling": "mean",
    "text_prefix": "7",
    "dtype": "float64",
    "empty_texts": "drop",
    "match_lengths": "truncate",
    "strip": "reasoning,whitespace",
    "num_runs": 3,
    "confidence_level": 0.8,
    "permutations": 50,
    "knn": False,
    "knn_k": 3,
    "frechet_distance": True,
}
