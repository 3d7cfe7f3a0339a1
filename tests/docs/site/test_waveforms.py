"""Waveform figures: what the simulated blocks do, and how it is drawn."""

import re

import pytest

from docs.site.waveforms import Lane, check_pipeline, draw, summary_message


def _words(svg):
    """Words in boxes with their columns."""
    pattern = r'<rect x="([\d.]+)"[^>]*/>\s*<text[^>]*>([^<]+)<'
    return [(float(x), word) for x, word in re.findall(pattern, svg)]


def test_a_step_comes_three_cycles_after_its_packet():
    svg = check_pipeline()
    words = {word: x for x, word in _words(svg)}
    width = words["load by warp 1"] - words["store by warp 0"]
    assert words["store first"] - words["store by warp 0"] == pytest.approx(3 * width)
    assert words["load unfenced write"] - words["load by warp 1"] == pytest.approx(3 * width)
    assert words["block fence"] == words["load unfenced write"]


def test_a_message_ends_with_its_last_flit():
    svg = summary_message()
    flits = [(x, word) for x, word in _words(svg) if word != "block"]
    assert len(flits) == 5
    for _, word in flits:
        assert re.fullmatch(r"[0-9a-f]{8}", word)
    columns = re.findall(r'y="12"[^>]*>(\d+)<', svg)
    assert columns[-1] == str(len(columns) - 1)
    width = flits[-1][0] - flits[-2][0]
    assert flits[-1][0] + width == pytest.approx(152 + len(columns) * width)


def test_levels_and_words():
    svg = draw("Title", [Lane("level", [False, True, False]), Lane("word", [None, "ab", None])])
    assert re.search(r'd="M150 44L180 44L180 24L210 24L210 44L240 44"', svg)
    assert _words(svg) == [(182.0, "ab")]
    assert re.search(r'd="M150 78L180 78M210 78L210 78L240 78"', svg)
