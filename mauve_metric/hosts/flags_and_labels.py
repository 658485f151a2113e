"""Options as the shell and the page write them, in messages that write them as in Python."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from mauve_metric.options import option_names, page_fields

ALIGNED = "Rows are aligned"  # label of the choice beside the models' texts
_NOT_IN_A_PATH = r"(?<![\w/\\.-])"  # before a name of an option: a file may be called p_text.jsonl
_OF_FILES = ("aligned", "common_rows", "reference_field", "prediction_field", "prompt_field", "encoding")


def flag_of(name: str) -> str:
    """The flag of an option.

    >>> flag_of("num_buckets"), flag_of("featurize_model_name")
    ('--num-buckets', '--featurizer')
    """
    return "--featurizer" if name == "featurize_model_name" else f"--{name.replace('_', '-')}"


def label_of(name: str) -> str:
    """The label of the control of an option.

    >>> label_of("row_order"), label_of("num_buckets")
    ('Row order', 'Number of buckets')
    """
    label: str | None = page_fields()[name].metadata["label"]
    return label or name.replace("_", " ").replace("kmeans", "k-means").capitalize()


class Spelling(NamedTuple):
    """The spelling of options in one place.

    names: of the options there. setting: form of a name with its value. phrases: patterns and what replaces them, in
    this order, once the names are replaced.
    """

    names: Mapping[str, str]
    setting: str
    phrases: Mapping[str, str]

    def respell(self, message: str, argument: str | None = None) -> str:
        """A message of the library with options as they are written here.

        A name that is a common word ("seed") is an option where a value in quotes, or True, follows "=", and at the
        beginning of an error about this argument.

        >>> SHELL.respell("q_text holds 1 empty text: remove it, or pass empty_texts='drop'")
        'MODEL holds 1 empty text: remove it, or pass --drop-missing'
        >>> PAGE.respell("num_buckets must be 2, got NoneType: remove them, or pass empty_texts='drop'")
        'Number of buckets must be 2, got nothing: remove them, or set “Empty texts” to “drop”'
        """

        def write(match: re.Match[str]) -> str:
            name, text, word = match.groups()
            about = match[0] == argument and match.start() == 0
            if "_" not in name and not about and (match[0] == name or word not in (None, "True")):
                return match[0]  # seed=1 may be the name of a model
            value = text or word
            if value and self.setting == "{} {}":  # of a shell
                value = shlex.quote(value)
            return self.setting.format(self.names[name], value) if value else self.names[name]

        names = "|".join(sorted(self.names, key=len, reverse=True)) or "(?!)"
        value = r"(?:['\"]([^'\"]+)['\"]|([\w.]+)|(?=`))"
        message = re.sub(rf"{_NOT_IN_A_PATH}({names})(?:={value}|(?![\w=/-]|\.\w))", write, message)
        for pattern, words in self.phrases.items():
            message = re.sub(pattern, words, message)
        return message


SHELL = Spelling(
    {name: flag_of(name) for name in (*_OF_FILES, *option_names())},
    "{} {}",
    {
        r"(--[\w-]+) True\b": r"\1",
        r"add '(\w+)' to featurizers": r"add --featurizer \1",
        "leave aligned out": "leave --aligned out",
        "; a dict gives each a name of its own": "",
        r"(add|or|,) p_groups and q_groups": r"\1 --prompt-field NAME",
        "Add p_groups and q_groups": "Add --prompt-field NAME",
        "--empty-texts drop": "--drop-missing",
        "`human_baseline`": "`mauve-metric baseline`",
        "`stress_test`": "`mauve-metric stress-test`",
        rf"{_NOT_IN_A_PATH}p_(text|features)(?![\w/-]|\.\w)": "HUMAN",
        rf"{_NOT_IN_A_PATH}q_(text|features)(?![\w/-]|\.\w)": "MODEL",
        r"^(p|HUMAN) and (q|MODEL) must": "HUMAN and MODEL must",
        "^featurizers needs": "several featurizers need",
        "or leave featurizers out$": "or leave --featurizer out",
        r"by cache= (?=or MAUVE)": "by --cache ",
        r"^truths (?=must)": "CORPUS ",
        r"^p (?=must)": "HUMAN ",
        r"^q (?=must)": "MODEL ",
        r"\bfeatures as p$": "features as HUMAN",
        r"\bfeatures as q$": "features as MODEL",
        r"\band p (?=holds)": "and HUMAN ",
        r"\band q (?=holds)": "and MODEL ",
        r"models\[(['\"])(.+?)\1\]": r"MODEL \2",
        r"\bp, (?=MODEL )": "HUMAN, ",
        r"\b(got|of) p (?=\d)": r"\1 HUMAN ",  # numbers of files of features
        r"(\bof|,) q (?=\d)": r"\1 MODEL ",
        r"(`?)p_groups\1(?: and|,) \1q_groups\1": r"\1--prompt-field\1",
        r"(`?)(--[\w-]+)\1 \(((`?)\2 [\w,.]+\4)\)": r"\3",  # a flag, and the same with its value in brackets
        r"((`?)(--[\w-]+)( [\w,.]+)?\2)(?: \(\2\3(?:\4)?\2\)|, \2\3(?(4)\4)\2(?![\w-]))": r"\1",  # the same twice
    },
)
PAGE = Spelling(
    {name: label_of(name) for name in page_fields()},
    "“{}” set to “{}”",
    {
        r"pass (“[^”]+”) set to": r"set \1 to",
        r" \((?:--|`mauve-metric )[^)]*\)": "",
        "(?:say|add) aligned=True": f"tick “{ALIGNED}”",
        "Add aligned=True": f"Tick “{ALIGNED}”",
        "leave aligned out": f"do not tick “{ALIGNED}”",
        "(or|,) (?:name the prompts with )?p_groups and q_groups": r"\1 give both files a column “prompt”",
        "which p_groups and q_groups": "which a column “prompt”",
        "add p_groups and q_groups": "give the files a column “prompt”",
        "Add p_groups and q_groups": "Give the files a column “prompt”",
        "p_groups and q_groups": "a column “prompt” in the files",
        r"\baligned=True": f"“{ALIGNED}”",
        f"(“{label_of('independent')}”) set to “True”": r"tick \1",
        "add (“[^”]+”) set to": r"set \1 to",
        "Add (“[^”]+”) set to": r"Set \1 to",
        r"(?:add|take) (?:'(\w+)' to featurizers|“[^”]+” set to “(\w+)”)": r"tick \1\2 in the options",
        "name the field of the answers with text_field": "choose the column of the answers",
        f"leave {label_of('num_buckets')} out": f"set “{label_of('num_buckets')}” to 0",
        "needs the prompts: texts, or the name of their file": "needs prompts, which this page does not take: take "
        "them off the texts",
        ":? (?:see )?mauve-metric (?:deduplicate|memorised)(?: takes them out)?": "",
        ", prompts(?=, next_turn)|prompts: a leading copy of one of them; ": "",  # which it does not take
        r"[:;] name (?:it|one), such as text_field='.*'": "; call the right one “text” in the file",
        r"[:;] (?:choose one with \w+_field|name the field (?:in|with) the one [^,]+), such as .*": "; keep one in the "
        "file",
        r", or name its encoding, such as encoding='\w+'": "",
        "NoneType": "nothing",
        "`": "",
    },
)
API = Spelling({}, "", {"give p_groups and q_groups": "leave aligned out"})  # of the endpoints, with Python's options
