"""The generated header."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.ports import ports_header
from racetrap.sim.cosim.scord.fast_harness import HARNESS

_TINY = find_preset("scord-tiny").params


def _header(widths, params):
    return ports_header("dut", widths, HARNESS.ports(params), HARNESS.constants(params))


def test_types_follow_the_widths_and_names_are_escaped():
    widths = {
        "m_axi_metadata__0__arid": 3, "m_axi_metadata__0__araddr": 40, "s_axil__awaddr": 12,
        "i_transaction__0__payload": 139,
    }  # fmt: skip
    text = _header(widths, _TINY)
    assert "    CData& arid;" in text
    assert "    QData& araddr;" in text
    assert "    SData& awaddr;" in text
    assert "    VlWide<5>& payload;" in text
    assert "top.m_axi_metadata___05F0___05Farid" in text
    for name in ("SMS = 2", "BANKS = 1", "METADATA_PORTS = 1"):
        assert f"{name};" in text


def test_local_memory_has_no_metadata_port():
    text = _header({}, find_preset("scord-local").params)
    assert "METADATA_PORTS = 0" in text
    assert "MetadataPort* metadata = nullptr;" in text


def test_trace_port_is_needed():
    with pytest.raises(ValueError, match="Parameter trace_port must be true"):
        build_fast("x", replace(_TINY, trace_port=False))
