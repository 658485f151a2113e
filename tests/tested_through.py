"""Modules without a test file of their own, by the test file that tests them."""

from __future__ import annotations

TESTED_THROUGH = {
    "apps/studies/test_baseline.py": ("apps/studies/baseline_result",),
    "scoring/test_compute.py": (
        "scoring/opening",
        "results/result",
        "runtime/optional_imports",
        "version",
    ),
    "apps/describing/test_describe.py": (
        "apps/describing/measure_runner",
        "catalogue/row",
        "apps/describing/description",
    ),
    "scoring/test_explain.py": ("results/explanation",),
    "apps/judging/test_preferences.py": (
        "apps/judging/measures/judgement_options",
        "apps/judging/judgement",
    ),
    "apps/studies/test_robustness.py": ("apps/studies/robustness_settings", "apps/studies/robustness_result"),
    "apps/studies/test_stress_test.py": ("apps/studies/stress_test_result",),
    "features/likelihood/test_likelihood_measures.py": ("catalogue/of_texts",),
    "features/likelihood/test_likelihoods.py": ("features/likelihood/language_model",),
    "features/test_row_blocks.py": ("features/array_files",),
    "apps/generation/test_evaluator.py": (
        "apps/generation/decoding",
        "apps/generation/writing_options",
    ),
    "apps/generation/test_generate.py": ("apps/generation/written_file",),
    "apps/generation/test_writer.py": ("runtime/model_state",),
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
    "hosts/harness/test_inspect.py": ("hosts/harness/pair_scores",),
    "hosts/harness/test_lm_eval.py": ("hosts/harness/lm_eval_task",),
    "hosts/space/server/test_endpoints.py": ("hosts/space/limits",),
    "hosts/space/test_page.py": ("hosts/space/view/layout",),
    "hosts/space/view/test_handlers.py": ("hosts/space/session/scoring",),
    "hosts/trainer/test_callback.py": ("apps/generation/evaluation",),
    "lexical/test_ngrams.py": ("lexical/tokens",),
    "apps/studies/perturbations/test_table.py": ("apps/studies/perturbations/pieces",),
    "clustering/test_drmm.py": ("arrays",),
    "clustering/test_on_device.py": ("runtime/tensors",),
    "results/charts/test_figure.py": ("results/charts/of_texts",),
    "results/test_document.py": ("results/charts/intervals", "apps/studies/charts"),
    "hosts/evaluate/test_metric.py": ("hosts/evaluate/stored_texts",),
}
