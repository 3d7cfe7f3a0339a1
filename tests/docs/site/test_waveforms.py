"""Waveform figures: what the simulated blocks do, and how it is drawn."""

import re

from docs.site.waveforms import Lane, check_pipeline, draw, front_end, summary_message


def _words(svg):
    """Words in boxes with their columns."""
    pattern = r'<rect x="([\d.]+)"[^>]*/>\s*<text[^>]*>([^<]+)<'
    return [(float(x), word) for x, word in re.findall(pattern, svg)]


def _cycles(svg):
    """Words with the numbers of their cycles."""
    lines = [float(x) for x in re.findall(r'<path d="M([\d.]+) 18V', svg)]
    return [(sum(line < x for line in lines) - 1, word) for x, word in _words(svg)]


def test_a_step_comes_three_cycles_after_its_packet():
    words = {word: cycle for cycle, word in _cycles(check_pipeline())}
    assert words["store first"] == words["store by warp 0"] + 3
    assert words["load unfenced write"] == words["load by warp 1"] + 3
    assert words["block fence"] == words["load unfenced write"]


def test_a_message_ends_with_its_last_flit():
    svg = summary_message()
    flits = [(cycle, word) for cycle, word in _cycles(svg) if word != "block"]
    assert len(flits) == 5
    for _, word in flits:
        assert re.fullmatch(r"[0-9a-f]{8}", word)
    columns = re.findall(r'y="12"[^>]*>(\d+)<', svg)
    assert columns == [str(number) for number in range(flits[-1][0] + 1)]
    # Cycles without a word are narrow, so that the figure fits a page.
    assert float(re.search(r'viewBox="0 0 ([\d.]+) ', svg)[1]) < 1000


def test_a_warp_waits_for_the_outcome_of_its_cas():
    svg = front_end()
    cycles = {word: cycle for cycle, word in _cycles(svg)}
    assert cycles["atomic 0"] < cycles["store line 2"] < cycles["store line 4"] < cycles["warp 0"]
    assert cycles["warp 0"] < cycles["store 0"] < cycles["atomic line 1"] < cycles["store line 1"]
    assert cycles["barrier 0"] < cycles["barrier"]
    assert float(re.search(r'viewBox="0 0 ([\d.]+) ', svg)[1]) < 1600


def test_levels_and_words():
    svg = draw("Title", [Lane("level", [False, True, False]), Lane("word", [None, "ab", None])])
    assert re.search(r'd="M150 44L174 44L174 24L204 24L204 44L228 44"', svg)
    assert _words(svg) == [(176.0, "ab")]
    assert re.search(r'd="M150 78L174 78M204 78L204 78L228 78"', svg)
