"""Banks of entries: each bank has its share of every region, whatever the number of banks."""

from collections import Counter

import pytest

from racetrap.golden_model.gpu.region import Region, bank_of_entry
from racetrap.golden_model.scord.params import ScordParams


@pytest.mark.parametrize(
    ("banks", "words"), [(1, 1), (8, 4), (24, 1), (24, 8), (192, 8), (80, 1), (640, 8), (33, 1)]
)
@pytest.mark.parametrize("larger", [0, 3])
def test_banks_have_like_shares(banks, words, larger):
    params = ScordParams(banks=banks, words_per_cycle=words)
    region = Region(size_log2=params.min_region_log2 + larger)
    entries = region.entries(params)
    shares = Counter(bank_of_entry(params, index) for index in range(entries))
    assert sorted(shares) == list(range(banks))
    assert max(shares.values()) <= 1.03 * entries / banks


def test_power_of_two_takes_the_low_bits():
    params = ScordParams(banks=8, words_per_cycle=2)
    assert [bank_of_entry(params, index) for index in range(20)] == [n % 8 for n in range(20)]


def test_words_of_a_segment_are_the_banks_of_a_port():
    params = ScordParams(banks=24, words_per_cycle=8)
    for segment in range(64):
        banks = [bank_of_entry(params, 8 * segment + lane) for lane in range(8)]
        assert banks == list(range(banks[0], banks[0] + 8))
        assert banks[0] % 8 == 0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"banks": 6, "words_per_cycle": 4}, "must be a multiple of words_per_cycle 4, not 6"),
        ({"banks": 3, "local_bytes": 4096}, "must be a power of two with local_bytes, not 3"),
    ],
)
def test_numbers_that_do_not_go_together(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        ScordParams(**settings)
