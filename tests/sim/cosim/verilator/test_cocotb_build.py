"""Builds: cached by content, in parallel, with only the bench's ports visible."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.verilator import cocotb_build
from racetrap.sim.cosim.verilator.build_cache import BuildError
from racetrap.sim.cosim.verilator.cocotb_build import Waves, build
from racetrap.sim.cosim.verilator.patch import Patch
from racetrap.sim.cosim.verilator.testbench_top import Port
from racetrap.sim.cosim.verilator.testbench_top import TestbenchTop as Top
from tests.support.scord.plans import TWO_BANKS

#: Of the testbench's tests, too.
_PARAMS = replace(find_preset("scord-tiny").params, **TWO_BANKS)
_BROKEN = Patch("scord/barrier_ids.py", "m = Module()", "m = NoModule()")


def test_a_build_is_made_once():
    first = build("scord-tiny", _PARAMS)
    stamp = first.executable.stat().st_mtime_ns
    with ThreadPoolExecutor() as pool:
        others = list(pool.map(lambda _: build("scord-tiny", _PARAMS), range(3)))
    assert others == [first] * 3
    assert first.executable.stat().st_mtime_ns == stamp
    assert [*first.folder.rglob("*.gch")] == []  # precompiled headers, the bulk of a build


def test_other_parameters_make_another_build(monkeypatch):
    assert build("scord-tiny", _PARAMS).description["parameters"]["banks"] == 2
    made = []
    monkeypatch.setattr(cocotb_build, "build_once", lambda folder, make: made.append(folder))
    build("scord-tiny", _PARAMS)
    build("scord-tiny", replace(_PARAMS, banks=4))
    build("scord-tiny", _PARAMS, waves=Waves("fst"))
    build("scord-tiny", _PARAMS, patch=_BROKEN)
    assert len(set(made)) == 4


def test_broken_source_is_an_error_that_shows_the_tools_words():
    with pytest.raises(BuildError, match="NoModule"):
        build("scord-tiny", _PARAMS, patch=_BROKEN)
    with pytest.raises(BuildError, match="NoModule"):  # and is not taken for a finished build
        build("scord-tiny", _PARAMS, patch=_BROKEN)


def test_unknown_part_is_refused():
    with pytest.raises(
        ValueError, match="Unknown part of sigrace-tiny 'wheel': choose core-unit or rdm"
    ):
        build("sigrace-tiny", find_preset("sigrace-tiny").params, part="wheel")


def test_bench_module_packs_handshakes_and_channels():
    ports = {
        "clk": Port("input", 1),
        "m_axi__awvalid": Port("output", 1),
        "m_axi__awready": Port("input", 1),
        "m_axi__awaddr": Port("output", 40),
        "m_axi__awlen": Port("output", 8),
        "m_axi__bid": Port("input", 2),
    }
    top = Top("device", ports)
    assert dict(top.flags.fields) == {"m_axi__awvalid": 1, "m_axi__awready": 1}
    assert {name: dict(layout.fields) for name, layout in top.bundles.items()} == {
        "m_axi__aw": {"addr": 40, "len": 8}
    }
    text = top.verilog()
    assert "assign flags = {m_axi__awready, m_axi__awvalid};" in text
    assert "assign m_axi__aw = {m_axi__awlen, m_axi__awaddr};" in text
