"""The papers' figures are exactly what is counted from the papers' parameters."""

import pytest

from racetrap.fpga.cost.papers import paper_of
from racetrap.generators.presets import PRESETS, with_settings
from racetrap.generators.systems import SYSTEMS


def figures(params):
    return {figure.name: figure.counted(params) for figure in paper_of(params).figures}


def test_scord():
    assert figures(PRESETS["scord"].params) == {
        "barrier ids of an SM": 64,
        "lock table of a warp": 36,
        "state of an SM": 152,
        "fence files": 720,
        "state in all": (15 * 152 + 720) / 1024,
        "metadata for the data": 12.5,
    }


def test_sigrace():
    params = with_settings(PRESETS["sigrace"].params, ["form=hashed"])
    assert figures(params) == {
        "signature": 2048,
        "timestamp": 160,
        "RDM, a processor": 8512,
        "core, a processor": 808,
    }


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_figure_agrees_in_the_papers_configuration(system):
    paper = paper_of(system.random(1))
    for figure in paper.figures:
        assert figure.agrees(paper.params), figure.name


def test_a_figure_that_is_not_the_papers_does_not_agree():
    params = PRESETS["scord-banks4"].params
    agreeing = {figure.name for figure in paper_of(params).figures if figure.agrees(params)}
    assert "fence files" not in agreeing
    assert "state in all" not in agreeing
    assert "state of an SM" in agreeing
