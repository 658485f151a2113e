"""The choice of the field that holds the texts: by a known format, by names, and by what looks like prose."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from mauve_metric.inputs.records import Record, examples_of
from mauve_metric.inputs.tool_formats import Format, failure_of, format_of, is_conversation, text_in
from mauve_metric.runtime.checks import did_you_mean, shown
from mauve_metric.runtime.errors import NoSuchField

Role = Literal["reference", "prediction", "prompt"]

LOOKED_AT = 100  # records by which a field is chosen
_MOST_FIELDS = 200
_DEPTH = 6
_CLOSE = 2.0  # times as many words as another unnamed field has, by which one is chosen
_FEWEST_WORDS = 2.0  # on average, of a field that is chosen by its values alone
_HEADLINE = 8.0  # words: a summary with fewer is that of a review, and the text is beside it
_BEGINNING = 40  # characters by which a longer form of a text is known
_MOST_COUNTED = 2000  # characters of a value

# Words in the names of fields. The last of them decides: "answer_prompt" is a prompt, "prompt_id" an id.
_WORDS = {
    "id": "id ids uid uuid guid url urls uri link href path file filename filepath hash md5 sha key index date time "
    "timestamp created version lang language split license email tokenizer generator dataset folder name names author "
    "worker annotator category domain genre",
    "prompt": "prompt prompts instruction instructions question questions query queries input inputs prefix context "
    "contexts source src premise system title headline heading topic user problem request task docs passage frage "
    "aufgabe pregunta domanda вопрос 问题",
    "human": "human humans person people reference references ref refs gold golds golden target targets label labels "
    "original originals truth expected",
    "prediction": "answer answers output outputs response responses reply replies completion completions generation "
    "generations generated prediction predictions predicted predict pred preds continuation continuations sampled "
    "samples "
    "machine hypothesis hypotheses hypo hyp gen decoded assistant solution chosen rejected summary summaries "
    "highlights abstract translation antwort respuesta risposta réponse ответ 回答",
    "text": "text texts content body story stories article document value string str raw full clean",
}
_ROLE_OF = {word: role for role, words in _WORDS.items() for word in words.split()}
_RIGHT = {"answer", "answers", "solution", "summary", "highlights", "abstract", "translation"}  # beside an output
_SPLIT = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CODE = re.compile(  # a URL, the name of a file, a number, a date, a hash, an id
    r"(?:[a-z][a-z\d+.-]*://|www\.)\S+|\S+\.[a-z]\w{1,5}|[^\n]{1,200}\.(?:txt|jsonl?|csv|tsv|pdf|docx?|html?|xml|md|png|jpe?g)"
    r"|[!-~]*[\d_/\\@#$%&*+<=>^|~][!-~]*|[-+\d.,:%/TZ ]*\d[-+\d.,:%/TZ ]*",
    re.IGNORECASE,
)
_WIDE = re.compile("[\u2e80-\U0010ffff]")  # letters of scripts without blanks
_QUESTION = re.compile(r"[?？]\s*$")


class Field(NamedTuple):
    """A field of texts in the first records.

    path: of it. values: the texts. role: by its name, or "" where that says nothing. is_code: the values are ids,
    numbers, URLs or names of files. words: their mean number; letters of scripts without blanks count half. varies:
    the values are no categories, a word or two that return, and not all the same. is_asked: most are questions.
    """

    path: str
    values: list[str]
    role: str
    is_code: bool
    words: float
    varies: bool
    is_asked: bool

    @classmethod
    def of(cls, path: str, values: list[str]) -> Field:
        """The field with these texts, of which none is empty."""
        beginnings = " ".join([value[:_MOST_COUNTED] for value in values])
        words = (len(beginnings.split()) + len(_WIDE.findall(beginnings)) / 2) / len(values)
        codes = asked = 0
        for value in values:
            codes += _CODE.fullmatch(value.strip()[:_MOST_COUNTED]) is not None
            asked += _QUESTION.search(value) is not None
        half, different = len(values) / 2, len(set(values))
        varies = len(values) < 3 or different > half or (different > 1 and words >= 3)
        return cls(path, values, role_of(path), codes > half, words, varies, asked > half)


def role_of(path: str) -> str:
    """The role of a field by the words of its name, from the last to the first; "" where it has none.

    >>> [role_of(name) for name in ("human_answers", "prompt_id", "input.text", "Best Answer", "text", "gpt4")]
    ['human', 'id', 'prompt', 'prediction', 'text', '']
    """
    if path.startswith("["):  # promptfoo's "[provider] prompt" is above what the provider answered
        return "prediction"
    words = _name_words(path)
    roles = list(filter(None, map(_ROLE_OF.get, reversed(words))))
    named = [role for role in roles if role != "text"]
    if not named:
        return "text" if roles else ""
    if named[0] == "id" and roles[0] == "text":  # "file_text"
        named = [role for role in named if role != "id"] or ["text"]
    return "human" if named[0] == "prediction" and "human" in named else named[0]


def _name_words(path: str) -> list[str]:
    return _SPLIT.findall(_CAMEL.sub(" ", path).lower())


def is_field_name(cell: str) -> bool:
    """Return whether all words of a cell are those that fields are named by; "human" may be a value too.

    >>> is_field_name("Name"), is_field_name("prompt_id"), is_field_name("A title"), is_field_name("human")
    (True, True, False, False)
    """
    roles = {_ROLE_OF.get(word) for word in _name_words(cell)}
    return bool(roles) and roles.isdisjoint((None, "human"))


def text_fields(records: Sequence[Record], firsts: bool = False) -> list[Field]:
    """The fields of the first records that hold texts, also inside others, by their paths. firsts: see `_leaves`."""
    values: dict[str, list[str]] = {}
    sample = records[:LOOKED_AT]
    for record in sample:
        for path, text in _leaves(record.value, record, firsts=firsts):
            if path in values or len(values) < _MOST_FIELDS:
                values.setdefault(path, []).append(text)
    fields = []
    for path, texts in values.items():
        filled = [text for text in texts if text.strip()]
        if 2 * len(texts) >= len(sample) and filled:
            fields.append(Field.of(path, filled))
    return fields


def _leaves(
    value: object, record: Record, path: str = "", depth: int = 0, firsts: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the texts in a record with their paths; a conversation, and a list of texts, has one path.

    firsts: also those of the first of several objects in a list.
    """
    before = f"{path}." if path else ""
    if isinstance(value, str):
        if path:
            yield path, value
    elif is_conversation(value) and path:
        try:
            yield path, text_in(record, path)
        except ValueError:  # it ends before the answer
            return
    elif isinstance(value, list) or (isinstance(value, Mapping) and value and all(map(str.isdecimal, map(str, value)))):
        entries = value if isinstance(value, list) else list(value.values())
        if path and entries and all(isinstance(entry, str) for entry in entries):
            yield path, " ".join(entries)
        elif not path or len(entries) == 1 or (firsts and entries):
            keys = range(len(entries)) if isinstance(value, list) else value
            for key, entry in [*zip(keys, entries, strict=True)][: 1 if path else None]:
                yield from _leaves(entry, record, f"{before}{key}", depth + 1, firsts)
    elif isinstance(value, Mapping) and depth < _DEPTH:
        for key, inner in value.items():
            yield from _leaves(inner, record, f"{before}{key}", depth + 1, firsts)


class Choice(NamedTuple):
    """The chosen field.

    path: None where none can be the text. tool_format: its tool's. doubt: why none is sure. proposed: which to name.
    """

    path: str | None
    tool_format: Format | None = None
    doubt: str = ""
    role: str = ""
    proposed: str = ""

    def problem(self, file: str | None = None) -> str:
        """The doubt with an example of the cure. file: see `named_field`."""
        return f"{self.doubt}, such as {named_field(self.proposed, file)}" if self.proposed else self.doubt


def choose(records: Sequence[Record], side: Role = "prediction", taken: Collection[str | None] = ()) -> Choice:
    """Choose the field of one side's texts in records with fields.

    First a known format; then the field whose name says that it is this side's, then "text", then the field whose
    values are longest by far. A prompt, an id, a URL and the name of a file are never chosen.

    Args:
        records: the first ones. side: whose texts. taken: fields that are the other side's.
    """
    fields = [field for field in text_fields(records) if field.path not in taken]
    if side == "prompt":
        asked = [field for field in fields if field.role == "prompt" and not field.is_code]
        if asked:
            return _longest(asked)
    answered = (record for record in records[:LOOKED_AT] if failure_of(record.value) is None)
    tool = format_of(next(answered, records[0]))
    if tool is not None:
        paths = tuple(filter(None, (tool.prediction, tool.reference, tool.prompt)))
        others = {field.role for field in fields if not field.is_code and not field.path.startswith(paths)}
        side_path = {"prediction": tool.prediction, "reference": tool.reference}.get(side)
        path = side_path or tool.prediction or tool.reference
        if path not in taken and not (tool.common and others & {"text", "prediction", "human"}):
            return Choice(path, tool, tool.lacks, side if side_path else "")
    top = records[0].value if isinstance(records[0].value, Mapping) else {}
    if len(top) == 1 and len(fields) <= 1:
        path = fields[0].path if fields else str(next(iter(top)))
        is_text = role_of(path) not in ("id", "prompt") and not (
            fields and fields[0].is_code and "://" in fields[0].values[0]
        )
        return Choice(path) if is_text else _unsure(path, fields)
    fit = [field for field in fields if not field.is_code and field.role not in ("id", "prompt")]
    usable = _without_labels([field for field in fit if field.varies])
    roles: list[str | None] = ["prediction", "text", "", None]
    if side == "reference":
        texts = [field for field in usable if field.role == "text" and not field.is_asked]
        answers = [field for field in usable if field.role == "prediction"]
        if texts and answers and all(field.role != "human" for field in usable):
            return _unsure(texts[0].path, [*texts, *answers])
        roles.insert(0, "human")
    for role in roles:
        named = [field for field in usable if role in (field.role, None)]
        told = [field for field in named if not field.is_asked]  # a question is what another field answers
        if told or (named and (role != "text" or len(usable) == 1)):
            return _compared(_longest(told or named), fields, records)
    same = [field for field in fit if field.role in ("prediction", "human", "text")]
    listed = [field for field in text_fields(records, firsts=True) if field.path not in taken]
    if not same and not listed and top:
        return Choice(None, None, f"has no field of texts, only {examples_of(top)}")
    return _compared(_longest(same), fields, records) if same else _unsure(None, listed)


def _compared(choice: Choice, fields: Sequence[Field], records: Sequence[Record]) -> Choice:
    """A choice, or a doubt: a list of answers, or a longer form of the text, is beside the field that is chosen."""
    if choice.doubt or choice.role == "human":
        return choice
    by_path = {field.path: field for field in fields}
    first = by_path[str(choice.path)]
    starts = {value[:_BEGINNING]: len(value) for value in first.values if len(value) >= _BEGINNING}
    is_of_review = first.words < _HEADLINE and bool(_RIGHT & set(_name_words(first.path)))
    rivals = [
        field
        for field in text_fields(records, firsts=True)
        if (field.path not in by_path and field.role == "prediction" and not field.is_code)
        and (first.role != "prediction" or field.words >= first.words)
    ]
    for field in fields:
        longer = sum(starts.get(value[:_BEGINNING], len(value)) < len(value) for value in field.values)
        if field.path != first.path and 2 * longer > len(field.values):  # most begin like the first, and go on
            rivals.append(field)
    if is_of_review:
        rivals += [field for field in fields if field.role == "text" and field.words > 2 * _HEADLINE]
    rivals = [field for field in rivals if field.words >= _FEWEST_WORDS]
    return _unsure(rivals[0].path, [*rivals, first], choice.role) if rivals else choice


def _without_labels(fields: list[Field]) -> list[Field]:
    """Fields without words that judge a text beside them; an answer beside an output is the right one, so human."""
    named = [field for field in fields if field.role in ("prediction", "human")]
    if not named:
        return fields
    if any(field.role == "text" and not field.is_asked and field.words >= 4 for field in fields):
        fields = [field for field in fields if field not in named or field.words >= 2]
    right = [field for field in fields if field.role == "prediction" and _RIGHT & set(_name_words(field.path))]
    if len(right) < sum(field.role == "prediction" for field in fields):
        fields = [field._replace(role="human") if field in right else field for field in fields]
    return fields


def _longest(fields: list[Field]) -> Choice:
    """The field with the name "text", else the one whose texts are far longer than those of the others of its kind."""
    named = [field for field in fields if field.path in ("text", "prompt")]
    first, *others = named or sorted(fields, key=lambda field: -field.words)
    if first.role == "" and first.words < _FEWEST_WORDS:
        return _unsure(first.path, fields, first.role)
    close = [field for field in others if first.words < _CLOSE * field.words and field.values != first.values]
    if not close:
        return Choice(first.path, None, "", first.role)
    close = sorted([field for field in fields if field in (first, *close)], key=lambda field: "rejected" in field.path)
    return _unsure(close[0].path, close, close[0].role)


def _unsure(path: str | None, fields: Sequence[Field], role: str = "") -> Choice:
    """The choice of a path with the reason why no field is surely the text."""
    if not fields:
        return Choice(path, None, "has no field of texts", role)
    likely = [field for field in fields if field.role not in ("id", "prompt")] or list(fields)
    fields = sorted(likely, key=lambda field: field.is_code) + [field for field in fields if field not in likely]
    values = {field.path: field.values[0] for field in fields}
    if len(values) == 1:
        said = f"has no field that is surely the text, only {examples_of(values)}: name it"
    else:
        said = f"has several fields that may be the text: {examples_of(values, 6)}; name one"
    return Choice(path, None, said, role, next(iter(values)))


def named_field(field: str, file: str | None = None) -> str:
    """A field as a caller names it: by the option, or, where the path of its file is given, behind that.

    >>> named_field("story"), named_field("story", "a.csv")
    ("text_field='story'", 'a.csv:story')
    """
    return f"text_field={field!r}" if file is None else f"{file}:{field}"


def chosen_field(name: str, records: Sequence[Record], side: Role = "prediction") -> str | None:
    """The path of `choose`; None for records that are texts.

    Raises:
        ValueError: no field is surely the text.
    """
    if not records or not isinstance(records[0].value, (Mapping, list)):
        return None
    choice = choose(records, side)
    if choice.path is None or choice.doubt:
        raise NoSuchField.of(name, choice.problem())
    return choice.path


def no_such_field(name: str, records: Sequence[Record], field: str, path: str | None = None) -> NoSuchField:
    """The error for a field that a file does not have: it lists those that it has, and one that may be meant.

    path: of the file, where `FILE:FIELD` named the field.
    """
    fields = text_fields(records)
    held = {path.path: path.values[0] for path in fields} or _other_values(records)
    choice = choose(records).path if fields else None
    near = did_you_mean(field, held)
    if field in held:
        return NoSuchField.of(name, f"has no field {shown(field)}, which others have: take it out, or write null there")
    such = "" if choice is None else f": name one, such as {named_field(choice, path)}"
    return NoSuchField.of(name, f"has no field {shown(field)}{near}; it has {examples_of(held)}{such}")


def _other_values(records: Sequence[Record]) -> Mapping[str, object]:
    value = records[0].value if records else {}
    return {str(key): inner for key, inner in value.items()} if isinstance(value, Mapping) else {}
