"""`racetrap explain`: every judge's word has a code, and every code is explained."""

import pytest

from racetrap.golden_model.barracuda.race import Missing
from racetrap.golden_model.causality.packets import RaceKind as CausalityKind
from racetrap.golden_model.causality.report import race_words as causality_words
from racetrap.golden_model.gpu.report import words_of
from racetrap.golden_model.hirace.packets import RaceKind as HiRaceKind
from racetrap.golden_model.scord.packets import RaceKind as ScordKind
from racetrap.golden_model.scord.report import race_words as scord_words
from racetrap.verdict.codes import code_of, codes

_WORDS = [
    *Missing, "late-fence",
    *(causality_words(kind) for kind in CausalityKind if kind),
    *(scord_words(kind) for kind in ScordKind if kind),
    *(words_of(kind) for kind in HiRaceKind if kind),
]  # fmt: skip


@pytest.mark.parametrize("word", _WORDS)
def test_each_word_of_a_judge_has_one_code(word):
    found = [code for code, each in codes().items() if word in each.kinds]
    assert found == [code_of(word)]


def test_list(racetrap):
    lines = racetrap("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(codes())


@pytest.mark.parametrize("code", sorted(codes()))
def test_explanation(racetrap, code):
    text = racetrap("explain", code.lower()).stdout
    assert text.startswith(f"{code}: {codes()[code].title}\n")
    for part in (f"\nLevel: {codes()[code].level}\n", "\nRule: ", "\nExample:\n", "\nCure: "):
        assert part in text


def test_a_code_that_is_not_known(racetrap):
    result = racetrap("explain", "RT999")
    assert result.exit_code == 2
    assert "Unknown code 'RT999'" in result.stderr
