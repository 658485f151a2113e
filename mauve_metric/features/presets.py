"""Encoders that the literature used, and how: pooling, length, and the text that their authors put before a text."""

from __future__ import annotations

import os
from typing import NamedTuple


class Preset(NamedTuple):
    """Featurization options of a model, used where the user gives none.

    pooling: as in `MauveConfig`. max_text_length: tokens. text_prefix: put before each text. source: who used it so.
    """

    pooling: str
    max_text_length: int
    text_prefix: str
    source: str


_MAUVE = "Pillutla et al. 2021, §4 (gpt2-large); mauve-text offers the other sizes"
_BLIND_SPOTS = "He et al. 2023, MAUVE on other features"
_E5 = "Wang et al. 2022; the models' cards ask for 'query: ' where embeddings are features"
_SENTENCES = "Reimers & Gurevych 2019; the models' own folders"
_SIZES = ("small", "base", "large")

# By the model's name on the Hub. Models that do more to a sentence than pool it (a dense layer, as in sentence-t5) are
# not here: their features would be others than those that the name means.
PRESETS: dict[str, Preset] = {
    **dict.fromkeys(("gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"), Preset("last", 1024, "", _MAUVE)),
    **dict.fromkeys(("roberta-large", "google/electra-large-discriminator"), Preset("last", 512, "", _BLIND_SPOTS)),
    **{f"intfloat/e5-{size}-v2": Preset("mean", 512, "query: ", _E5) for size in _SIZES},
    **{f"intfloat/multilingual-e5-{size}": Preset("mean", 512, "query: ", _E5) for size in _SIZES},
    "sentence-transformers/all-mpnet-base-v2": Preset("mean", 384, "", _SENTENCES),
    "sentence-transformers/all-MiniLM-L6-v2": Preset("mean", 256, "", _SENTENCES),
}


def preset_of(name: str) -> tuple[str, Preset | None]:
    """A model's name on the Hub and its preset; the name as it is, and None, for any other model.

    The part behind the slash is enough for a name, unless it is that of a local folder.

    >>> preset_of("e5-base-v2")[0], preset_of("e5-base-v2")[1].text_prefix, preset_of("my/model")
    ('intfloat/e5-base-v2', 'query: ', ('my/model', None))
    """
    if name in PRESETS or os.path.isdir(name):
        return name, PRESETS.get(name)
    full = next((known for known in PRESETS if known.rsplit("/", 1)[-1] == name), name)
    return full, PRESETS.get(full)
