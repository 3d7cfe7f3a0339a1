"""Names of configurations: every board that has one, a preset, or none."""

from dataclasses import replace

import pytest

from racetrap.fpga.boards.identity import identify
from racetrap.fpga.boards.table import BOARDS, board_params
from racetrap.fpga.host.client import LinkError
from racetrap.generators.presets import PRESETS
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.hello import Hello


def _hello(params):
    return Hello(2, configuration_hash(params), 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("board", "preset", "name"),
    [
        ("ulx3s-85f", "scord-local", "scord-local on ulx3s-85f or ecpix5-85"),
        ("ecpix5-85", "scord-local", "scord-local on ulx3s-85f or ecpix5-85"),
        ("ecpix5-85", "sigrace-tiny", "sigrace-tiny on ulx3s-85f or ecpix5-85"),
        ("ice40-hx8k", "scord-local", "scord-local on ice40-hx8k"),
        ("ulx3s-85f", "noncoherent", "noncoherent on ulx3s-85f or ecpix5-85"),
        ("ice40-hx8k", "noncoherent-tiny", "noncoherent-tiny on ice40-hx8k"),
    ],
)
def test_every_board_with_the_configuration_is_named(board, preset, name):
    params = board_params(BOARDS[board], preset)
    assert identify(_hello(params)) == (name, params)


def test_presets_and_others():
    params = replace(PRESETS["scord-banks4"].params, trace_port=False)
    assert identify(_hello(params)) == ("scord-banks4", params)
    with pytest.raises(LinkError, match="if none is named, not 0x"):
        identify(_hello(replace(params, outstanding=64)))
