"""Modules without a test file of their own, by the test file that tests them."""

from __future__ import annotations

TESTED_THROUGH = {
    "api/test_baseline.py": ("results/baseline",),
    "api/test_compare.py": ("uncertainty/comparison_warnings",),
    "api/test_compute.py": (
        "api/each_featurizer",
        "catalogue/scores",
        "results/numbers",
        "results/result",
        "runtime/optional_imports",
        "version",
    ),
    "api/test_describe.py": (
        "api/described_reading",
        "api/described_rows",
        "api/described_set",
        "catalogue/row",
        "results/description",
    ),
    "api/test_explain.py": ("results/explanation",),
    "api/test_preferences.py": (
        "measures/judgements/judgement_options",
        "results/judgement",
        "results/measured",
        "texts/columns",
    ),
    "api/test_robustness.py": (
        "api/robustness_settings",
        "results/charts/of_robustness",
        "results/robustness",
    ),
    "api/test_stress_test.py": (
        "results/charts/of_stress_test",
        "results/stress_test",
    ),
    "duplicates/test_near_duplicates.py": ("duplicates/deduplicate",),
    "duplicates/test_same_origin.py": ("lexical/word_counts",),
    "features/likelihood/test_likelihood_measures.py": ("catalogue/of_texts",),
    "features/likelihood/test_likelihoods.py": ("features/likelihood/decoder", "features/likelihood/language_model"),
    "features/test_rows.py": (
        "features/parquet_files",
        "features/row_files",
    ),
    "features/test_sides.py": (
        "features/estimate",
        "texts/fingerprints",
    ),
    "generation/test_evaluator.py": (
        "generation/decoding",
        "generation/options",
        "generation/scorer",
    ),
    "generation/test_generator.py": (
        "generation/fully_sharded",
        "generation/writer",
        "runtime/model_state",
    ),
    "hosts/cli/commands/test_deduplicate.py": ("hosts/cli/commands/memorised",),
    "hosts/cli/commands/test_errors.py": ("hosts/cli/commands/warnings",),
    "hosts/cli/commands/test_preferences.py": ("hosts/cli/commands/boundaries",),
    "hosts/cli/commands/test_robustness.py": ("hosts/cli/commands/baseline",),
    "hosts/cli/test_flags.py": ("hosts/cli/parser",),
    "hosts/cli/test_main.py": (
        "hosts/cli/commands/cache",
        "hosts/cli/commands/compare",
        "hosts/cli/commands/describe",
        "hosts/cli/commands/explain",
        "hosts/cli/commands/featurize",
        "hosts/cli/commands/lm_eval_task",
        "hosts/cli/output",
        "texts/examples",
    ),
    "hosts/plugins/test_inspect.py": ("hosts/plugins/pair_scores",),
    "hosts/plugins/test_lm_eval.py": ("hosts/plugins/lm_eval_task",),
    "hosts/space/server/test_endpoints.py": (
        "hosts/space/limits",
        "hosts/space/server/schema",
        "hosts/space/view/theme",
    ),
    "hosts/space/session/test_judging.py": ("hosts/space/view/judging",),
    "hosts/space/session/test_measuring.py": ("hosts/space/session/takeaway",),
    "hosts/space/session/test_run.py": ("hosts/space/view/run_handlers",),
    "hosts/space/test_page.py": (
        "hosts/space/view/away_part",
        "hosts/space/view/layout",
        "hosts/space/view/measures_part",
        "hosts/space/view/wiring",
    ),
    "hosts/space/view/test_handlers.py": (
        "hosts/space/session/reading",
        "hosts/space/session/scoring",
        "hosts/space/view/controls",
        "hosts/space/view/notices",
        "hosts/space/view/showing",
    ),
    "hosts/trainer/test_callback.py": (
        "generation/evaluation",
        "hosts/trainer/reporters",
    ),
    "lexical/test_ngrams.py": ("lexical/tokens",),
    "measures/ratios/test_density_ratios.py": ("measures/ratios/ratio_estimators",),
    "perturbations/test_table.py": (
        "perturbations/pieces",
        "perturbations/sentences",
        "perturbations/sets",
        "perturbations/words",
    ),
    "quantize/test_drmm.py": (
        "arrays",
        "quantize/scaled_rows",
    ),
    "quantize/test_on_device.py": (
        "measures/support_on_device",
        "runtime/tensors",
    ),
    "results/charts/test_of_result.py": ("results/figure_files",),
    "results/charts/test_figure.py": (
        "results/charts/of_explanation",
        "results/charts/of_texts",
    ),
    "results/wording/test_verdict.py": ("results/wording/featurizer_words",),
    "sharding/test_sharded.py": (
        "runtime/failures",
        "sharding/feature_shards",
    ),
    "test_metric.py": (
        "hosts/evaluate/stored_texts",
        "hosts/evaluate/text_statistics",
    ),
    "texts/test_files.py": (
        "texts/inspect_logs",
        "texts/lines",
    ),
    "results/test_document.py": (
        "results/result_methods",
        "results/charts/of_intervals",
        "results/plain",
    ),
}
