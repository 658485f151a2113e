"""The most frequent errors: for each a code, the pattern of its message, its cause and its cure.

The message of an error says what is wrong with this input. Its code leads to more, in the shell
(`mauve-metric errors CODE`) and on the page of errors and warnings.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mauve_metric.options import config_fields, run_fields


class Guide(NamedTuple):
    """One code. message: a pattern that its messages hold. cause: when the error comes. cure: what to do."""

    message: str
    cause: str
    cure: str


_OPTIONS = "|".join([*config_fields(), *run_fields()])

# The first pattern that matches is used.
GUIDES: dict[str, Guide] = {
    "not_written": Guide(
        r"cannot be written|would replace|cannot be kept",
        "A file that is to be written cannot be: its folder does not exist, may not be changed or is full, or the file "
        "is one of the inputs.",
        "Name another place. The places of `--plot`, `--report` and `-o` are checked before anything is computed.",
    ),
    "no_file": Guide(
        r"there (is|are) no (file|folder|\.)|looks like a folder, and there is none",
        "A file or folder that is to be read is not there.",
        "Check the name, and the folder from which you run: names count from there. A name with blanks needs quotes in "
        "the shell.",
    ),
    "unknown_ending": Guide(
        r"unknown ending|holds no \.\w+ ",
        "The name of a file says how it is read, and this ending, or this folder, says nothing that is known.",
        "Rename or convert it: `.jsonl`, `.json`, `.txt`, `.csv`, `.tsv` and `.parquet` for texts, `.npy`, `.npz` and "
        "`.parquet` for features.",
    ),
    "no_such_field": Guide(
        r"has no field|has no column|say which are meant|say which field",
        "Nothing says which field or column of a file holds the texts, or the one that was named is not there.",
        "`--text-field NAME` (`text_field=`) names it; `doc.story` is a field inside another one. A file with both "
        "sides takes `--reference-field` and `--prediction-field`.",
    ),
    "several_texts": Guide(
        r"choose one with|holds \d+ gold texts",
        "A record of a harness holds several texts where one is expected: answers, gold texts, runs of one document.",
        "Choose one as the message says: `--filter`, or a field with a number such as `resps.0.0`.",
    ),
    "not_one_set": Guide(
        r"expected MODEL|human texts? beside|not every other file|do not hold the same|human texts of .* differ"
        r"|number of human texts|is another document",
        "The files do not make two sides: one lacks the human texts, or the models' files hold other documents.",
        "Give the human texts as a file of their own, first. `--common-rows` leaves out what not all models have.",
    ),
    "damaged_file": Guide(
        r"is damaged|not a numpy file|not JSON|not UTF-8|not CSV|that can be read|parquet file|more values than",
        "A file is not what its name says, or was cut off while it was written.",
        "Open it at the line or byte that the message names. Write texts as UTF-8; make features again by "
        "`mauve-metric featurize`.",
    ),
    "empty_texts": Guide(
        r"is empty|empty or whitespace|non-empty text|holds no texts|no token for",
        "A text is empty, or a set has none. A model that writes nothing is a finding: empty texts are not left out in "
        "silence.",
        '`--empty-texts drop` (`empty_texts="drop"`) leaves them out; the result says how many they were.',
    ),
    "not_texts": Guide(
        r"must be a list of texts|hold strings only|expected a text|surrogate pair|list of dicts",
        "A side must be a list of texts, and is one text, or holds something else: numbers, None, half a character.",
        'Put a single text into a list. Take records without a text out, or write "" and let `empty_texts="drop"` '
        "count them.",
    ),
    "unlike_features": Guide(
        r"featurized differently|same number of columns|featurized by one model|one text for each row",
        "The two sides were not made by one featurizer with one setting, or the texts are not those of the features.",
        "Featurize both sides again, by the same command (`mauve-metric featurize`).",
    ),
    "not_finite": Guide(
        r"must be finite|finite log-prob|loss is NaN or infinite|masked values",
        "Features hold NaN, infinity or masked values: a model that overflowed, often in float16, or a division by 0.",
        '`dtype="float32"` (`--dtype`). Look at the text of the row that the message names; do not replace NaN by 0.',
    ),
    "not_features": Guide(
        r"shape \(n, d\)|array of numbers|rows have different lengths|rows of one length|at least one row",
        "Features must be one array of numbers with a row for each text and a column for each feature.",
        "`features.reshape(n, -1)` for one row a text; check that tokens or texts were not given as features.",
    ),
    "too_many_buckets": Guide(
        r"num_buckets must be at most",
        "There cannot be more buckets than texts; ten texts a bucket are what a score needs.",
        'Leave `num_buckets` at `"auto"`, lower it, or take more texts.',
    ),
    "unknown_option": Guide(
        r"unknown option|unexpected keyword",
        "There is no option of this name; a misspelt one would otherwise be left out in silence.",
        "Take the name that the message proposes, or one of `mauve-metric score --help-all`.",
    ),
    "rows_differ": Guide(
        r"aligned=True|aligned must|equal size|_groups",
        "Rows are to be compared one by one, and the sets do not have the same number of rows.",
        "Give one text a prompt in every file, in one order; where texts share prompts in another way, give `p_groups` "
        "and `q_groups`, one group for each text.",
    ),
    "no_model": Guide(
        r"cannot be loaded|not a model name|must be a causal language model|not the published ones",
        "A model is not on this machine and the Hub cannot be reached, or its folder is not one of a model.",
        "`--featurize-model-name minilm` or `ngrams` needs no download. Else download the model once where there is a "
        "network, and name its folder.",
    ),
    "wrong_option": Guide(
        rf"(?<!\w)({_OPTIONS})(=\S+)? (must|needs|does)|contradict each other|name two devices",
        "An option has a value that it cannot have, or one that does not go with another option.",
        "The message says what is expected; `mauve-metric score --help-all` and the page of options have all defaults.",
    ),
    "no_package": Guide(
        r"pip install",
        "A package that only this needs is not installed.",
        "Run the line of the message in the environment of `mauve_metric`: `python -m pip --version` names it.",
    ),
    "no_memory": Guide(
        r"out of memory|Unable to allocate|MemoryError",
        "Memory ended, the machine's or the GPU's.",
        "`--max-batch-tokens` bounds a batch of texts. Features in files are read in blocks, and texts in many files "
        "are scored by `mauve-metric score … -o DIR`.",
    ),
}


def code_of(message: str) -> str | None:
    """The code of an error's message; None if it has no code.

    >>> code_of("there is no file 'nowhere.txt'"), code_of("a rare one")
    ('no_file', None)
    """
    return next((code for code, guide in GUIDES.items() if re.search(guide.message, message)), None)
