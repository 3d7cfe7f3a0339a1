"""Core unit against the golden one on random events: steps, messages flit by flit, traps."""

import random
from dataclasses import replace

import pytest

from racetrap.generators.structure import state_bits
from racetrap.generators.verilog import to_verilog
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.sigrace.core_unit import CoreUnit
from tests.support.campaign import later_but
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.sigrace.blocks import EDGES
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.core_bench import CoreUnitBench, random_events

#: The first and the last of each form, and small filters; the compressor has the others.
_SOON = [*EDGES[:2], EDGES[4], EDGES[6], *EDGES[-2:]]


@pytest.mark.parametrize("settings", later_but(_SOON.__contains__, EDGES), ids=str)
def test_random_events(settings):
    params = replace(SMALL, **settings)
    events = random_events(params, random.Random(str(settings)), 150)
    bench = CoreUnitBench(params, seed=str(settings))
    bench.run(events)
    bench.check(events)


@pytest.mark.parametrize("seed", later_but(lambda seed: seed == 0, range(2)))
@pytest.mark.parametrize("form", later_but(lambda form: form == "hashed", ["sets", "hashed"]))
def test_random_events_at_full_rate(form, seed):
    """No idle cycle and no stall from outside: every hand-over between neighbours is met."""
    params = replace(SMALL, form=form, block_instructions=7)
    events = random_events(params, random.Random(f"{form} {seed}"), 300)
    bench = CoreUnitBench(params)
    bench.run(events)
    bench.check(events)


@pytest.mark.parametrize("form", later_but(lambda form: form == "hashed", ["sets", "hashed"]))
def test_no_path_from_valid_to_ready(form):
    assert valid_to_ready_paths(CoreUnit(replace(SMALL, form=form))) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"threads": 1, "usb_limit": 1, "lsb_bits": 4, "trap_depth": 1},
        {"trap_depth": 2, "lsb_bits": 12},
        {"form": "hashed", "lsb_bits": 4, "one_hot_lsb": True, "filters": 2, "filter_bits": 16},
    ],
    ids=str,
)
def test_verilog_has_no_signal_without_bits(settings):
    """Verilog reads ``[-1:0]`` as two bits, and linters complain."""
    text = to_verilog(CoreUnit(replace(SMALL, **settings)), "core_unit")
    assert "module" in text
    assert "[-1:0]" not in text


# The generator's own count has the same figures in `make test`.
@pytest.mark.campaign
def test_state_is_the_papers():
    """Section 5.5: TS 20, R and W 512, TRT 20, Conflict Signature 256 bytes: 808 of a core."""
    bits = state_bits(CoreUnit(SigraceParams(form="hashed", trace_port=False)))
    assert bits["top.state.timestamp.counters"].flip_flops == 8 * 20
    assert bits["top.state.trt"].flip_flops == 8 * 20
    assert bits["top.traps"].flip_flops == 8 * 256
    # One flag beside each signature: whether it is empty.
    signatures = sum(bits[f"top.sets.{name}"].flip_flops - 1 for name in ("read", "write"))
    assert signatures == 8 * 512
