"""Weak memory of launches: what each operation lets be seen, by small kernels."""

import numpy as np
import pytest

from racetrap.golden_model.events import Geometry
from racetrap.golden_model.ptx_memory_model.operational import InOrder, Kind, RandomChoices
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.weak_memory import MEMORY_MODELS, WeakMemorySettings
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.workloads.registry import WORKLOADS

GEOMETRY = Geometry(sm_count=2, blocks_per_sm=4, warps_per_sm=8)
RATES = dict.fromkeys(Kind, 0.4)
VOLATILE = "st.volatile.global.u32 [%rd1+4], 1;"
RELEASE = "st.release.gpu.global.u32 [%rd1+4], 1;"
POLL = "ld.volatile.global.u32 %r2, [%rd1+4];"
ACQUIRE = "ld.acquire.gpu.global.u32 %r2, [%rd1+4];"


def word_left(module, word, grid, block, seed, memory="views", **options):
    """A word of the buffer of a kernel, after a run."""
    settings = WeakMemorySettings(MEMORY_MODELS[memory], RandomChoices(seed, RATES))
    device = Device(GEOMETRY, memory=settings, **options)
    data = device.allocate(np.zeros(4, np.uint32))
    device.launch(module, "k", grid, block, [data])
    return int(device.read(data, np.uint32, 4)[word])


def passed_on(seed, before="", flag=VOLATILE, poll=POLL, behind="", reader="block", **options):
    """What a thread reads that waits for a flag, after data was stored and the flag set.

    The reader is a thread of another ``block``, ``warp`` or ``lane``.
    """
    number, grid, block = {
        "block": ("%ctaid.x", 2, 1), "warp": ("%tid.y", 1, (32, 2)), "lane": ("%tid.x", 1, 2),
    }[reader]  # fmt: skip
    module = parse_ptx(f"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {{
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, {number};
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  st.global.u32 [%rd1], 7;
  {before}
  {flag}
  bra END;
WAIT:
  {poll}
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  {behind}
  ld.global.u32 %r3, [%rd1];
  st.global.u32 [%rd1+8], %r3;
END:
  ret;
}}""", f"{reader}.ptx")  # fmt: skip
    options.setdefault("independent_threads", reader == "lane")
    return word_left(module, 2, grid, block, seed, **options)


@pytest.mark.parametrize(
    ("way", "is_stale"),
    [
        ({}, True),
        ({"before": "membar.gl;"}, True),
        ({"behind": "membar.gl;"}, True),
        ({"before": "membar.gl;", "behind": "membar.gl;"}, False),
        ({"before": "membar.cta;", "behind": "membar.gl;"}, True),
        ({"before": "membar.cta;", "behind": "membar.cta;", "reader": "warp"}, False),
        ({"before": "membar.cta;", "reader": "warp"}, True),
        ({"flag": RELEASE, "poll": ACQUIRE}, False),
        ({"flag": RELEASE, "poll": ACQUIRE.replace("gpu", "cta")}, True),
        ({"flag": RELEASE}, True),
        ({"before": "fence.acq_rel.gpu;", "poll": ACQUIRE}, False),
        ({"flag": VOLATILE.replace("volatile.", ""), "behind": "membar.gl;"}, True),
        ({"reader": "lane"}, True),
        ({"reader": "lane", "before": "membar.cta;", "behind": "membar.cta;"}, False),
    ],
)
def test_a_flag_passes_data_on_as_fences_and_scopes_say(way, is_stale):
    seen = {passed_on(seed, **way) for seed in range(16)}
    assert seen == ({0, 7} if is_stale else {7})


@pytest.mark.parametrize(
    ("way", "is_stale"), [({}, True), ({"before": "membar.gl;"}, False), ({"flag": RELEASE}, False)]
)
def test_write_buffers_hold_stores_back_until_a_fence(way, is_stale):
    seen = {passed_on(seed, memory="write-buffers", **way) for seed in range(16)}
    assert seen == ({0, 7} if is_stale else {7})


@pytest.mark.parametrize("memory", MEMORY_MODELS)
def test_choices_in_order_are_what_the_executor_does_without(memory):
    """Applications check their own results."""
    settings = WeakMemorySettings(MEMORY_MODELS[memory], InOrder())
    WORKLOADS["RED"].run(Device(Geometry(15, 8, 32), memory=settings), "tiny", 1)


def block_sum(seed, memory, barrier):
    """Sum of what 64 threads store in shared memory, by the first of them."""
    module = parse_ptx(f"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {{
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, s;
  add.u32 %r3, %r3, %r2;
  st.shared.u32 [%r3], 5;
  {barrier}
  xor.b32 %r4, %r2, 128;
  mov.u32 %r5, s;
  add.u32 %r5, %r5, %r4;
  ld.shared.u32 %r6, [%r5];
  red.global.add.u32 [%rd1], %r6;
  ret;
}}""", "sum.ptx")  # fmt: skip
    return word_left(module, 0, 1, 64, seed, memory)


@pytest.mark.parametrize("memory", MEMORY_MODELS)
def test_barriers_order_shared_memory(memory):
    assert {block_sum(seed, memory, "bar.sync 0;") for seed in range(8)} == {320}
    assert len({block_sum(seed, memory, "") for seed in range(8)}) > 1


def copied(seed, load, store):
    """What a thread copies that sets a flag behind it, of a word that is written then."""
    module = parse_ptx(f"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {{
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  st.global.u32 [%rd1], 7;
  ld.global.{load} %r2, [%rd1];
  st.global.{store} [%rd1+8], %r2;
  st.volatile.global.u32 [%rd1+4], 1;
  bra END;
WAIT:
  atom.global.or.b32 %r2, [%rd1+4], 0;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  st.global.u32 [%rd1], 9;
END:
  ret;
}}""", "copy.ptx")  # fmt: skip
    return word_left(module, 2, 2, 1, seed)


def test_a_store_takes_what_its_late_load_is_settled_to():
    assert {copied(seed, "u32", "u32") for seed in range(30)} == {7, 9}


@pytest.mark.parametrize(("load", "store"), [("u8", "u8"), ("u8", "u32"), ("u32", "u16")])
def test_a_store_of_another_size_settles_its_load(load, store):
    assert {copied(seed, load, store) for seed in range(30)} == {7}
