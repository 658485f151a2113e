"""Modules without a test file of their own, by the test file that tests them."""

from __future__ import annotations

TESTED_THROUGH = {
    "api/test_baseline.py": ("results/baseline",),
    "api/test_compute.py": (
        "api/opening",
        "results/result",
        "runtime/optional_imports",
        "version",
    ),
    "api/test_describe.py": (
        "api/described_sets",
        "catalogue/row",
        "results/description",
    ),
    "api/test_explain.py": ("results/explanation",),
    "api/test_preferences.py": (
        "measures/judgements/judgement_options",
        "results/judgement",
    ),
    "api/test_robustness.py": ("api/robustness_settings", "results/robustness"),
    "api/test_stress_test.py": ("results/stress_test",),
    "features/likelihood/test_likelihood_measures.py": ("catalogue/of_texts",),
    "features/likelihood/test_likelihoods.py": ("features/likelihood/language_model",),
    "features/test_rows.py": ("features/row_files",),
    "generation/test_evaluator.py": (
        "generation/decoding",
        "generation/writing_options",
    ),
    "generation/test_generate.py": ("generation/written_file",),
    "generation/test_writer.py": ("runtime/model_state",),
    "hosts/cli/commands/test_deduplicate.py": ("hosts/cli/commands/memorised",),
    "hosts/cli/commands/test_errors.py": ("hosts/cli/commands/warnings",),
    "hosts/cli/commands/test_preferences.py": ("hosts/cli/commands/boundaries",),
    "hosts/cli/commands/test_robustness.py": ("hosts/cli/commands/baseline",),
    "hosts/cli/test_main.py": (
        "hosts/cli/commands/cache",
        "hosts/cli/commands/compare",
        "hosts/cli/commands/describe",
        "hosts/cli/commands/explain",
        "hosts/cli/commands/featurize",
        "hosts/cli/commands/lm_eval_task",
    ),
    "hosts/plugins/test_inspect.py": ("hosts/plugins/pair_scores",),
    "hosts/plugins/test_lm_eval.py": ("hosts/plugins/lm_eval_task",),
    "hosts/space/server/test_endpoints.py": ("hosts/space/limits",),
    "hosts/space/test_page.py": ("hosts/space/view/layout",),
    "hosts/space/view/test_handlers.py": ("hosts/space/session/scoring",),
    "hosts/trainer/test_callback.py": ("generation/evaluation",),
    "lexical/test_ngrams.py": ("lexical/tokens",),
    "perturbations/test_table.py": ("perturbations/pieces",),
    "quantize/test_drmm.py": ("arrays",),
    "quantize/test_on_device.py": ("runtime/tensors",),
    "results/charts/test_figure.py": ("results/charts/of_texts",),
    "results/test_document.py": ("results/charts/intervals", "results/charts/of_studies"),
    "test_metric.py": ("hosts/evaluate/stored_texts",),
}
