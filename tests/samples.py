"""Helpers of several test files: the repository's path, small texts, and a featurizer that needs no model."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "mauve_metric"
EXAMPLES = ROOT / "examples"

WORDS = "the quick harbour counts lists of ships and raises errors when rain walks over lazy numbers".split()

ANIMALS = ("bird", "cat", "horse", "owl", "fox", "hare")
PLACES = ("in the old barn", "by the river", "under a tree", "at the harbour", "on the hill")
HUMAN = [f"The {animal} slept {place}." for animal in ANIMALS for place in PLACES]
MODEL = [f"The {animal} slept {place} again." for animal in ANIMALS for place in PLACES[:3]] + ["A query 😀"] * 6
NASTY = "<img src=x onerror='document.title=1'>"
HOSTILE = [
    "<script>document.title=1</script>",
    NASTY,
    "**bold** [link](javascript:alert(1)) # head",
    "=cmd|' /C calc'!A0",
    "${alert(1)} {{this}} `x`",
    "\u202eright to left\u202c and zero\u200bwidth",
    "nul \x00 bell \x07",
]
CODE = [  # texts that are code elsewhere
    "<script>alert(1)</script><img src=x onerror=alert(2)> &amp; </pre></textarea></style>",
    '=HYPERLINK("http://evil.example","x")',
    "+cmd|' /C calc'!A0;=1+1",
    "@SUM(1)\t=1+1",
    r"\input{/etc/passwd} \write18{ls} $x_1$ & % # { ^^41",
    "[click](javascript:alert(1)) ![x](http://evil.example/p.png) | a | **b** `c`",
    "\x1b[31mred\x1b]0;title\x07 null\x00 back\x08\x08",
    "\u202egnirts\u202c \u2066alone\u2069 \u200b\ufeff",
    "one\u2028two\u2029three\x85four\x0bfive\x0csix",
    "{{7*7}} {% raw %} ${7*7} %s {0}",
    "</script><script>window.hit = 1</script><svg onload='window.hit = 2'><a href='javascript:window.hit = 3'>x</a>",
    "👩‍👩‍👧‍👦🏳️‍🌈 👍🏽 e\u0301\u0302\u0303",
    "x" * 20_000,
]


EVIL = '<script>alert("x")</script> & | _b_ \\% $'  # a name that every form must escape


def normal_features(shift: float, n: int = 120, seed: int = 0, scale: float = 1.0) -> NDArray[np.float64]:
    return shift + scale * np.random.default_rng(seed).normal(size=(n, 5))


HUMAN_FEATURES = normal_features(0, seed=100)
MODEL_FEATURES = {
    "bad": normal_features(1.5, seed=1),
    "good": normal_features(0.05, seed=2),
    "middle": normal_features(0.6, seed=3),
}


def texts_of(count: int, seed: int = 0, longest: int = 12, shortest: int = 1) -> list[str]:
    """Different texts of `shortest` to `longest` words and a number."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(shortest, longest + 1, size=count)
    return [f"{index} " + " ".join(rng.choice(WORDS, size=size)) for index, size in enumerate(sizes)]


def ngrams(texts: list[str]) -> np.ndarray:
    """A featurizer without a model: how often each hashed pair of characters occurs in a text."""
    features = np.zeros((len(texts), 32))
    for row, text in enumerate(texts):
        for start in range(len(text) - 1):
            code = hashlib.blake2b(text[start : start + 2].encode("utf-8", "surrogatepass"), digest_size=1).digest()[0]
            features[row, code % 32] += 1
    return features


def slow_ngrams(texts: list[str]) -> np.ndarray:
    """The same, slow enough for something to happen meanwhile."""
    time.sleep(0.25)
    return ngrams(texts)


def write_jsonl(path: Path, texts: list[str]) -> str:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    return str(path)


def script(path: str) -> ModuleType:
    """A script of the repository, loaded anew as a module; `path`: from the root, without `.py`."""
    spec = importlib.util.spec_from_file_location(f"script_{Path(path).stem}", ROOT / f"{path}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
