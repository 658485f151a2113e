"""Languages of texts, by script and small words: sentences of the Universal Declaration of Human Rights."""

from __future__ import annotations

from collections import Counter

import pytest
from scripts import TEXTS

from mauve_metric import read_texts
from mauve_metric.inputs.fingerprints import language_of

DECLARATION = {
    "English": "All human beings are born free and equal in dignity and rights. They are endowed with reason.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft begabt.",
    "French": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison.",
    "Spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón.",
    "Italian": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione.",
    "Portuguese": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão.",
    "Dutch": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand.",
    "Polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni.",
    "Swedish": "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och.",
    "Russian": "Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом.",
    "Ukrainian": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом.",
    "Bulgarian": "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест.",
    "Persian or Urdu": "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند.",
    "Arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا.",
    "Hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "Georgian": "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.",
    "Japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "Chinese": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。",
}


@pytest.mark.parametrize("language", DECLARATION)
def test_a_sentence_of_each_language(language: str) -> None:
    assert language_of(DECLARATION[language]) == language


def test_what_is_not_clear_has_none() -> None:
    texts = ["", "12 + 30", "Cat cat cat dog", "🦊🐱" * 20, "def f(x): return x + y * z", "xkcd qwrt zzzt plmk vbnm"]
    assert [language_of(text) for text in texts] == [None] * 6


def test_sets_of_one_language_are_mostly_seen_as_such() -> None:
    human = read_texts("examples/human.jsonl")
    assert Counter(map(language_of, human)) == {"English": len(human)}
    for texts in TEXTS.values():
        languages = Counter(map(language_of, texts))
        assert languages.most_common(1)[0][1] > 0.5 * len(texts)
