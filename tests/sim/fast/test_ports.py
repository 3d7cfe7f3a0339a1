"""The generated header."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.sim.fast.build import build_fast
from racetrap.sim.fast.ports import ports_header

_TINY = find_preset("scord-tiny").params


def test_types_follow_the_widths_and_names_are_escaped():
    widths = {
        "m_axi_metadata__0__arid": 3, "m_axi_metadata__0__araddr": 40, "s_axil__awaddr": 12,
        "i_transaction__0__payload": 139,
    }  # fmt: skip
    text = ports_header("dut", widths, _TINY)
    assert "    CData& arid;" in text
    assert "    QData& araddr;" in text
    assert "    SData& awaddr;" in text
    assert "    VlWide<5>& payload;" in text
    assert "top.m_axi_metadata___05F0___05Farid" in text
    assert "SMS = 2, BANKS = 1, METADATA_PORTS = 1" in text


def test_local_memory_has_no_metadata_port():
    text = ports_header("dut", {}, find_preset("scord-local").params)
    assert "METADATA_PORTS = 0" in text
    assert "MetadataPort* metadata = nullptr;" in text


@pytest.mark.parametrize(
    "make", [lambda params: ports_header("dut", {}, params), lambda params: build_fast("x", params)]
)
def test_trace_port_is_needed(make):
    with pytest.raises(ValueError, match="Parameter trace_port must be true"):
        make(replace(_TINY, trace_port=False))
