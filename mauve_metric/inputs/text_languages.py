"""The language of a text by its script and, in Latin letters, by its small words.

It names a featurizer in a note and never changes a number. A library of hundreds of languages would load a model for
each score, which takes longer than many scores.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter

LOOKED_AT = 300  # characters of a text
FEWEST_LETTERS = 10
_MOST = 0.5  # of the letters that are of one script
_SMALL_WORDS = 0.12  # of the words that are small words of a language; prose has a quarter or more
_WORD = re.compile(r"[^\W\d_]+")
_BY_SCRIPT = {
    "arabic": "Arabic",
    "cyrillic": "Russian",
    "hangul": "Korean",
    "cjk": "Chinese",
    "hiragana": "Japanese",
    "katakana": "Japanese",
    "devanagari": "Hindi",
    "ethiopic": "Amharic",
    "myanmar": "Burmese",
}  # others are called as their script: Thai, Greek, Hebrew, Bengali, Georgian, …
_BY_LETTERS = {  # languages of a script that letters of their own tell apart
    "Persian or Urdu": "پچژگکی",
    "Ukrainian": "іїєґ",
    "Serbian": "јљњђћџ",
    "Bulgarian": "ъ",
    "Turkish": "ığ",
    "Polish": "łężś",
}
_OTHER_LETTERS = {"Bulgarian": "ыэ"}  # that rule a language out
_SMALL = {
    "English": "the of and to in a is that for it was on with as his he be by at from this have i you",
    "German": "der die das und ist in den zu von mit sich auf für nicht ein eine dem des im auch es an war",
    "French": "le la les de des et un une du est en que dans pour qui il elle au pas sur ne avec l d",
    "Spanish": "el la los las de y en que un una es por con para del se no al su lo como más",
    "Italian": "il la di che e un una è per in del della non con si le dei al nel sono da gli",
    "Portuguese": "o a os as de e que em um uma do da é para com não no na por se dos das ao",
    "Dutch": "de het een en van in is dat op te zijn met voor niet aan er om ook als bij maar",
    "Polish": "i w na z do nie się to że jest o jak po za od przez przy był dla co",
    "Turkish": "ve bir bu da de için ile çok ne ama gibi daha olarak sonra kadar o her en bana olan",
    "Swedish": "och i att det som en på är av för med den till inte om ett han de var jag",
    "Danish": "og i at det som en på er af for med den til ikke om et han de var jeg der",
    "Romanian": "și în de la a cu pe nu o să este un din care mai se ce pentru că au",
    "Indonesian": "yang dan di ke dari ini itu dengan untuk tidak pada adalah dalam akan saya juga ada oleh",
    "Vietnamese": "và của là có không một người các trong cho được với đã này những để khi ở",
    "Czech": "a se v na je že o s z do to jako by ve pro za ale jsem není byl",
    "Hungarian": "a az és hogy nem is egy ez de van meg volt csak már mint el még azt",
    "Finnish": "ja on ei se että oli hän en mutta kun niin joka ovat ole myös kuin sen",
}
_LANGUAGES_BY_WORD: dict[str, list[str]] = {}
for _language, _words in _SMALL.items():
    for _word in _words.split():
        _LANGUAGES_BY_WORD.setdefault(_word, []).append(_language)


def language_of(text: str) -> str | None:
    """The language in which most of the beginning of a text is written; None where that is not clear.

    >>> language_of("The cat sat on the mat, and it was warm."), language_of("Кот сидел на ковре.")
    ('English', 'Russian')
    """
    part = text[:LOOKED_AT].lower()
    letters = Counter(filter(str.isalpha, part))
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[_script(letter)] += count
    if letters.total() < FEWEST_LETTERS:
        return None
    script, count = scripts.most_common(1)[0]
    language = _BY_SCRIPT.get(script, script.title())
    asian = scripts["cjk"] + scripts["hiragana"] + scripts["katakana"]
    if max(count, asian) <= _MOST * letters.total():
        return None
    if language == "Chinese" and scripts["hiragana"] + scripts["katakana"] > 0.1 * asian:
        return "Japanese"
    for other, letters_of in _BY_LETTERS.items():
        if _script(letters_of[0]) != script or any(letter in letters for letter in _OTHER_LETTERS.get(other, "")):
            continue
        if sum(letters[letter] for letter in letters_of) > 0.01 * letters.total():
            return other
    return _latin_language(part) if script == "latin" else language


def _latin_language(text: str) -> str | None:
    """The language whose small words are most frequent, if they are frequent."""
    words = _WORD.findall(text)
    counts: Counter[str] = Counter()
    for word, times in Counter(words).items():
        for language in _LANGUAGES_BY_WORD.get(word, ()):
            counts[language] += times
    (language, count), *others = [*counts.most_common(2), ("", 0)]
    is_clear = count > _SMALL_WORDS * len(words) and count > others[0][1]
    return language if is_clear else None


@functools.cache
def _script(letter: str) -> str:
    """The script of a letter: the first word of its name."""
    return unicodedata.name(letter, "unknown").split("-")[0].split()[0].lower()
