"""A language model fine-tuned to tell a model's texts from human ones, and its accuracy on unseen ones."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.duplicates.same_origin import texts_of_one_origin
from mauve_metric.features.pretrained import FEATURIZERS, check_weights, quiet
from mauve_metric.measures.cross_fitting import assign_folds, check_groups
from mauve_metric.measures.discriminators import FEWEST_TEXTS, Discrimination
from mauve_metric.measures.separation import HeldOut, accuracy_of_scores, auc_of_scores
from mauve_metric.runtime.checks import check_least
from mauve_metric.runtime.model_state import random_states_kept
from mauve_metric.runtime.optional_imports import import_accelerate, import_transformers

TEXT_TOKENS = 192  # of each text (Ippolito 2021, §3.4)
_TEST, _VALIDATION = 0, 1  # folds; the others are trained on
_INDEPENDENT = 1.0  # one classifier tests texts of which none was trained on


def finetuned_discriminator(
    human_texts: Sequence[str],
    model_texts: Sequence[str],
    model: str | tuple[Any, Any],
    *,
    seed: int = 25,
    level: float = 0.95,
    prompts: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
    epochs: int = 3,
    learning_rate: float = 5e-5,
    batch_size: int = 16,
    max_text_length: int = TEXT_TOKENS,
) -> Discrimination:
    """An encoder fine-tuned by transformers' Trainer on three fifths of the texts (Ippolito 2021, §3.4).

    After each epoch it is judged on another fifth, and the epoch of the best accuracy tells the texts of the last
    fifth; copies, and texts of one prompt, are in one part. The interval is that of one classifier on new texts.

    Args:
        human_texts, model_texts: the two sides.
        model: a name or folder that AutoModelForSequenceClassification loads, or a (model for sequence classification
            with two labels, tokenizer) pair, which stays as it is: a copy is trained.
        prompts: of the human texts and of the model's; None: known by the texts' first eight words.
        epochs, learning_rate, batch_size: of the training. max_text_length: tokens kept of a text.

    Returns:
        AUC and accuracy on the test texts, in [0, 1], ½ for sets that cannot be told apart; lower is better.

    Raises:
        ValueError: too few texts, a pair with other than two labels, prompts of another length, epochs below 1.
        OSError: the model cannot be reached. ImportError: accelerate is missing.
    """
    check_least("epochs", epochs)
    texts = [*human_texts, *model_texts]
    of_both = None if prompts is None else [*prompts[0], *prompts[1]]
    groups = texts_of_one_origin(texts, of_both)
    is_model = np.repeat([False, True], [len(human_texts), len(model_texts)])
    check_groups(groups, is_model, FEWEST_TEXTS)
    fold_of = assign_folds(groups, is_model, seed)
    import_accelerate()
    transformers = import_transformers()
    with random_states_kept(), quiet(transformers):
        transformers.set_seed(seed)  # for the new head; the Trainer does the same for the order of the texts
        classifier, tokenizer = _load(model)
        limit = min(
            max_text_length, int(getattr(classifier.config, "max_position_embeddings", max_text_length + 2)) - 2
        )
        encoded = tokenizer(texts, truncation=True, max_length=limit)["input_ids"]
        rows = [{"input_ids": ids, "label": int(label)} for ids, label in zip(encoded, is_model, strict=True)]
        odds = _trained_and_tested(classifier, tokenizer, rows, fold_of, seed, epochs, learning_rate, batch_size)
    test = fold_of == _TEST
    held_out = HeldOut(odds, is_model[test], np.zeros(len(odds), dtype=np.int64), groups[test], _INDEPENDENT)
    return Discrimination(auc_of_scores(held_out, level), accuracy_of_scores(held_out, level), held_out)


def _load(model: str | tuple[Any, Any]) -> tuple[Any, Any]:
    """A classifier with two labels and a tokenizer that can pad, both ours to change."""
    transformers = import_transformers()
    if isinstance(model, tuple):
        classifier, tokenizer = copy.deepcopy(model)
        if getattr(classifier, "num_labels", None) != 2:
            raise ValueError(
                f"model as a pair must hold a model for sequence classification with two labels, got "
                f"{type(classifier).__name__} with {getattr(classifier, 'num_labels', 'none')}"
            )
    else:
        folder = str(FEATURIZERS[model]()) if model in FEATURIZERS else model
        classifier, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, num_labels=2, trust_remote_code=False, output_loading_info=True
        )
        body = f"{classifier.base_model_prefix}."
        check_weights(model, [key for key in report["missing_keys"] if key.startswith(body)])
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.pad_token is None:
        raise ValueError("model must have a tokenizer with a token to pad with or an end token, got neither")
    classifier.config.pad_token_id = tokenizer.pad_token_id
    return classifier, tokenizer


def _trained_and_tested(
    classifier: Any,
    tokenizer: Any,
    rows: list[dict[str, Any]],
    fold_of: Integers,
    seed: int,
    epochs: int,
    learning_rate: float,
    batch_size: int,
) -> Floats:
    """Log odds of the test texts by the best epoch, (n_test,)."""
    transformers = import_transformers()

    def part(chosen: NDArray[np.bool_]) -> list[dict[str, Any]]:
        return [rows[index] for index in np.nonzero(chosen)[0]]

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder,
            num_train_epochs=epochs,
            learning_rate=learning_rate,
            per_device_train_batch_size=batch_size,
            per_device_eval_batch_size=batch_size,
            eval_strategy="epoch",
            save_strategy="epoch",
            save_total_limit=1,
            save_only_model=True,
            load_best_model_at_end=True,
            metric_for_best_model="accuracy",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
            dataloader_pin_memory=False,
            seed=seed,
        )
        trainer = transformers.Trainer(
            model=classifier,
            args=arguments,
            train_dataset=part(fold_of > _VALIDATION),
            eval_dataset=part(fold_of == _VALIDATION),
            data_collator=transformers.DataCollatorWithPadding(tokenizer),
            processing_class=tokenizer,
            compute_metrics=_accuracy,
        )
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
        logits: Array = trainer.predict(part(fold_of == _TEST)).predictions
    return np.asarray(logits[:, 1] - logits[:, 0], dtype=np.float64)


def _accuracy(prediction: Any) -> dict[str, float]:
    """Mean share of both sides that is classified correctly."""
    right = prediction.predictions.argmax(axis=1) == prediction.label_ids
    return {"accuracy": float(np.mean([right[prediction.label_ids == side].mean() for side in (0, 1)]))}
