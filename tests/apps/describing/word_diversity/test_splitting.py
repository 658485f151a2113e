"""Words as they are written."""

from __future__ import annotations

from mauve_metric.apps.describing.word_diversity.splitting import split_words


def test_words_keep_case_and_marks() -> None:
    assert split_words("It’s 1,000 \n km-long... (_so_)!") == [
        *("It’s", "1,000", "km-long", ".", ".", ".", "(", "_", "so", "_", ")", "!")
    ]
    assert split_words(" ") == []
    assert "".join(split_words("naïve Žižek 語 a_b")) == "naïveŽižek語a_b"
