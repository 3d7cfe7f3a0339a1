"""Compiled loops of loads and stores, against the same steps one by one."""

from contextlib import suppress
from random import Random

import numpy as np
import pytest

from racetrap.golden_model.trace.container.rules import TraceError
from racetrap.sim.compiled_library import compiled_library
from racetrap.sim.cosim.verilator.patch import Patch
from racetrap.sim.gpu.executor.machine import lane_moves
from racetrap.sim.gpu.executor.machine.access import Access
from racetrap.sim.gpu.executor.machine.errors import KernelFault
from tests.support import REPOSITORY
from tests.support.gpu.ptx_kernels import Run

SEEDS = range(24)
REGISTERS = {1: "%h", 2: "%h", 4: "%r", 8: "%d"}
#: Bytes of the memory of each space that is accessed.
BYTES = 256
OUTSIDE = f".shared .align 16 .b8 table[{BYTES}];"


def _access(random: Random) -> str:
    """A load or store of some lanes, at equal, neighbouring or scattered places."""
    size, elements = random.choice([(s, n) for s in REGISTERS for n in (1, 2, 4) if s * n <= 16])
    space = random.choice(["global", "shared", "local"])
    kind = random.choice(["u", "s", "b"]) + str(8 * size)
    names = [f"{REGISTERS[size]}{random.randrange(1, 5)}" for _ in range(4)]
    if size == 2 and elements == 1 and random.random() < 0.5:
        # Extended to a wider register, or cut from one.
        names, kind = [f"%r{random.randrange(1, 5)}"] * 4, random.choice(["u16", "s16"])
    width, places = size * elements, BYTES // (size * elements)
    offset = width * random.choice([0, 0, 1, 3])
    low = random.choice(["%r31", "0", "%r20", str(random.randrange(places))])
    lines = [f"add.u32 %r21, {low}, {random.randrange(4)};"]
    lines.append(f"rem.u32 %r21, %r21, {places - 3}; mul.lo.u32 %r21, %r21, {width};")
    if space == "global":
        lines.append("cvt.u64.u32 %d21, %r21; add.u64 %d21, %d21, %d31;")
    elif space == "shared":
        lines.append("mov.u32 %r22, table; add.u32 %r21, %r21, %r22;")
    else:
        lines.append("mov.u32 %r22, own; add.u32 %r21, %r21, %r22;")
    address = f"[{'%d21' if space == 'global' else '%r21'}+{offset}]"
    guard = random.choice(["", "", "@%p1 ", "@!%p2 "])
    vector = "" if elements == 1 else f".v{elements}"
    value = names[0] if elements == 1 else "{" + ", ".join(names[:elements]) + "}"
    if random.random() < 0.5 and len(set(names[:elements])) == elements:
        strength = "volatile." if space == "shared" and random.random() < 0.3 else ""
        lines.append(f"{guard}ld.{strength}{space}{vector}.{kind} {value}, {address};")
    else:
        lines.append(f"{guard}st.{space}{vector}.{kind} {address}, {value};")
    return " ".join(lines)


def _body(seed: int) -> str:
    random = Random(seed)
    lines = [f".local .align 16 .b8 own[{BYTES}];", "mul.lo.u32 %r20, %r31, 7;"]
    lines += ["and.b32 %r19, %r31, 3; setp.eq.u32 %p1, %r19, 1; setp.lt.u32 %p2, %r31, 9;"]
    for number in range(1, 5):
        lines.append(f"mad.lo.u32 %r{number}, %r31, {0x9E3779B1 * number & 0x7FFFFFFF}, 1;")
        lines.append(f"cvt.u16.u32 %h{number}, %r{number};")
        lines.append(f"mul.wide.u32 %d{number}, %r{number}, %r{number};")
    lines += [_access(random) for _ in range(16)]
    for number in range(1, 5):
        lines.append(f"st.global.u32 [%d33], %r{number}; st.global.u64 [%d30+128], %d{number};")
    return "\n".join(lines)


def _outcome(seed: int, block: int):
    """Both memories, and the trace; what is wrong otherwise."""
    data = np.arange(BYTES, dtype=np.uint8)
    try:
        run = Run(_body(seed), outside=OUTSIDE, block=block, data=data)
    except KernelFault as fault:
        return str(fault)
    trace = run.device.trace("test")
    return (
        run.out().tobytes(), run.device.read(run.data, np.uint8, BYTES).tobytes(),
        trace.events.tobytes(), trace.lanes.tobytes(),
    )  # fmt: skip


def _step_by_step(monkeypatch, seed: int, block: int):
    with monkeypatch.context() as patch:
        patch.setattr(Access, "may_loop", lambda *_: False)
        return _outcome(seed, block)


@pytest.mark.parametrize("seed", SEEDS)
def test_loops_do_what_single_steps_do(monkeypatch, seed):
    block = [32, 64, 41, 1][seed % 4]
    assert _outcome(seed, block) == _step_by_step(monkeypatch, seed, block)


def test_loops_are_taken(monkeypatch):
    def refused(access, *_):
        raise AssertionError(f"{access.place} goes step by step")

    monkeypatch.setattr(Access, "addresses", refused)
    run = Run(
        "shl.b32 %r1, %r31, 2; mov.u32 %r2, table; add.u32 %r2, %r2, %r1;"
        "st.shared.u32 [%r2], %r31; @%p1 st.shared.u32 [%r2], %r1; ld.shared.u32 %r3, [%r2+4];",
        outside=OUTSIDE,
    )
    assert len(run.events("STORE")) == len(run.events("LOAD")) == 1


def test_a_full_log_is_enlarged():
    count = 3000
    run = Run(
        f"mov.u32 %r1, 0; L: st.global.u32 [%d33], %r1; ld.global.u32 %r2, [%d33+64];"
        f"add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, {count}; @%p1 bra L;",
    )
    stores = run.events("STORE")
    assert [event.lanes[31].value for event in stores] == list(range(count))
    assert len(run.events("LOAD")) == count


BUGS = {
    "first lane": (
        "int lane = LANES - 1; lane >= 0; --lane", "int lane = 0; lane < LANES; ++lane",
    ),
    "all lanes": (
        "{ return warp.mask >> lane & 1; }", "{ return lane < LANES && warp.sm >= 0; }",
    ),
    "offset": ("base + static_cast<Address>(access.offset)", "base"),
    "stride": ("lane * window.lane_stride", "0 * window.lane_stride"),
    "elements": ("move.place(lane) + n * BYTES, value", "move.place(lane) + n, value"),
    "value": (
        "reinterpret_cast<char *>(&record.value) + n * BYTES",
        "reinterpret_cast<char *>(&record.compare) + n",
    ),
    "logged mask": ("event.mask = warp.mask;", "event.mask = LANES;"),
    "lanes of the log": ("log.lane_bytes += sizeof record;", ""),
    "strong": ("event.strong = access.is_strong;", ""),
    "load": ("steps[3 + n], place + n * BYTES, BYTES", "steps[3 + n], place, BYTES"),
    "number of the warp": ("event.warp = warp.number;", ""),
    "room of lanes": ("log.lane_bytes / sizeof(LaneRecord)", "log.lane_bytes"),
}  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(monkeypatch, tmp_path, bug):
    file = "sim/gpu/executor/machine/lane_moves.cpp"
    text = Patch(file, *BUGS[bug]).changed((REPOSITORY / file).read_text(encoding="utf-8"))
    source = tmp_path / "lane_moves.cpp"
    source.write_text(text, encoding="utf-8")
    options = ("-std=c++20", "-O3", "-Wno-error")
    library = compiled_library("lane-moves", [source], options, {}, lane_moves._TWINS)
    monkeypatch.setattr(lane_moves, "_library", lambda: library)
    for loop in (lane_moves.load_loop, lane_moves.store_loop):
        loop.cache_clear()
    try:
        found = []
        for seed in SEEDS:
            with suppress(AssertionError, TraceError):
                test_loops_do_what_single_steps_do(monkeypatch, seed)
                continue
            found.append(seed)
    finally:
        for loop in (lane_moves.load_loop, lane_moves.store_loop):
            loop.cache_clear()
    assert found, f"bug {bug} changes nothing that is compared"
