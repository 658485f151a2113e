"""The labels of the page's controls, and the library's messages with these in place of its options."""

from __future__ import annotations

import re

from mauve_metric.options import config_fields

ALIGNED = "Rows are aligned"  # label of the choice beside the models' texts
_PROMPTS = "or name the prompts with p_groups and q_groups", "or give both files a column “prompt”"


def label(name: str) -> str:
    """The label of a control.

    >>> label("row_order")
    'Row order'
    """
    found: str | None = config_fields()[name].metadata["label"]
    return found or name.replace("_", " ").replace("kmeans", "k-means").capitalize()


def name_controls(message: str) -> str:
    """Rewrite a message of the library for the page: options named by the labels of their controls.

    >>> name_controls("num_buckets must be 2, got NoneType: remove them, or pass empty_texts='drop'")
    'Number of buckets must be 2, got nothing: remove them, or set “Empty texts” to “drop”'
    >>> name_controls("strip='line_breaks' (--strip line_breaks) makes each text one line")
    '“Strip” set to “line_breaks” makes each text one line'
    """
    names = "|".join(sorted(config_fields(), key=len, reverse=True))
    message = re.sub(r" \((?:--|`mauve-metric )[^)]*\)", "", message)
    message = message.replace("say aligned=True", f"tick “{ALIGNED}”").replace(*_PROMPTS)
    message = re.sub(rf"(pass )?\b({names})=(?:['\"]([^'\"]+)['\"]|([\w.]+))", _set, message)
    message = re.sub(rf"\b(?=\w*_)({names})\b", lambda found: _title(found[1]), message)
    return message.replace("NoneType", "nothing").replace("`", "")


def _set(found: re.Match[str]) -> str:
    name, value = f"“{_title(found[2])}”", f"“{found[3] or found[4]}”"
    return f"set {name} to {value}" if found[1] else f"{name} set to {value}"


def _title(name: str) -> str:
    return "Featurizer" if name == "featurize_model_name" else label(name)
