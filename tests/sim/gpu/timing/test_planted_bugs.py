"""Bugs planted in the timing model change what is computed by hand, or break its rules."""

import shutil
import sys
from multiprocessing import get_context

import pytest

from racetrap.sim.cosim.verilator.patch import Patch
from racetrap.sim.gpu.timing import library
from tests.support.gpu.timing_cases import (
    CASES,
    HIT,
    PARAMS,
    block_after_block,
    broken_rules,
    miss,
    random_trace,
    run,
)
from tests.support.gpu.timing_detector import DETECTOR_CASES

_FOLDER = "sim/gpu/timing"
#: A replay with a bug may never end.
_SECONDS = 20


def _bug(file: str, before: str, after: str) -> Patch:
    return Patch(f"{_FOLDER}/{file}", before, after)


BUGS = {
    # Events and tables
    "the last event of a cycle goes first": _bug(
        "event_queue.h", "(slot.first == NOWHERE ? slot.first : nodes_[slot.last].next) = place;",
        "nodes_[place].next = slot.first; slot.first = place;"),
    "what is far is near": _bug("event_queue.h", "at < now_ + SLOTS", "true"),
    "a quotient is one too small": _bug("machine.h", "* inverse >> 64", "* (inverse - 1) >> 64"),
    "the first line of a set goes": _bug("caches.h", "each->used < oldest->used", "false"),
    "caches are not emptied": _bug("caches.h", "void clear() { epoch_++; }", "void clear() {}"),
    # DRAM
    "a row stays open": _bug("dram.h", "bank.row != request.row", "false"),
    "the bus is free at once": _bug("dram.h", "std::max({bank.column_ok, column_ok_, group})",
                                    "bank.column_ok"),
    "a row opens without time": _bug("dram.h", "bank.column_ok = clock_ + settings_.t_rcd;", ""),
    "rows open at once": _bug("dram.h", "activate_ok_ = clock_ + settings_.t_rrd;", ""),
    "a row may close at once": _bug(
        "dram.h", "bank.precharge_ok = clock_ + settings_.t_ras;", ""),
    "a write needs no recovery": _bug("dram.h", "end + settings_.t_wr", "end"),
    "closing takes no time": _bug("dram.h", "clock_ + settings_.t_rp", "clock_"),
    "a line is one burst": _bug("memory.h", "1u << std::max(0, bytes_log2 - BURST_LOG2)", "1u"),
    # Memory
    "all flits pass a slice's port at once": _bug(
        "memory.h", "std::max(now(), own.port_free) + m_.flits_out(m_.requests[id].asks)",
        "now() + 1"),
    "a miss is read twice": _bug("memory.h", "found || writes ? nullptr : own.missing.find(line)",
                                 "nullptr"),
    "merges have no limit": _bug(
        "memory.h", "m_.requests[*first].at_l2.count >= settings_.l2_merges", "false"),
    "misses have no limit": _bug("memory.h", "own.missing.size() >= settings_.l2_mshrs", "false"),
    "an update leaves its line clean": _bug(
        "memory.h", "line->dirty |= m_.requests[id].asks == Asks::ATOMIC;", ""),
    "a store leaves its line clean": _bug(
        "memory.h", "->dirty |= writes || request.asks == Asks::ATOMIC;", ";"),
    "lines are dropped": _bug("memory.h", "own.cache.holds(victim) && victim->dirty", "false"),
    "distant words share nothing": _bug(
        "memory.h", "entry % (settings_.data_words / settings_.ratio)", "entry"),
    "all is monitored": _bug("memory.h", "word < base || word >= end", "false"),
    "a detector without metadata reads": _bug(
        "memory.h", "!settings_.detects || !settings_.md", "!settings_.detects"),
    # Cores
    "the newest warp goes first": _bug(
        "cores.h", "own.ready[place] < own.ready[chosen]", "own.ready[place] > own.ready[chosen]"),
    "a scheduler is not greedy": _bug("cores.h", "own.ready[place] != own.last", "true"),
    "one scheduler": _bug("cores.h", "warp % settings_.schedulers", "0"),
    "instructions take no time": _bug("cores.h", "now() + next.gap", "now()"),
    "a fence does not wait": _bug("cores.h", "own.is_fencing = own.unacknowledged || own.is_told;",
                                  "own.is_fencing = false;"),
    "a block's fence empties the L1": _bug(
        "cores.h", "instruction(warp).does == Does::DEVICE_FENCE", "true"),
    "a warp passes a barrier alone": _bug("cores.h", "++state.at_barrier == state.live", "true"),
    "all blocks begin at once": _bug("cores.h", "now() + delay_of(number)", "now()"),
    "a slot has one block": _bug("cores.h", "if (!slot.empty()) place(slot.front());", ""),
    "a store leaves the L1 as it is": _bug("cores.h", "found->valid &= ~bit_of(packet.segment);",
                                           ";"),
    "L1 misses have no limit": _bug("cores.h", "more <= settings_.l1_mshrs", "true"),
    "the injection queue has no end": _bug(
        "cores.h", "time = std::max(time, leaves);", ""),
    "packets leave at once": _bug("cores.h", "std::max(time, own.out_free)", "time"),
    "hits are not told": _bug("cores.h", "if (!settings_.detects) return time;", "return time;"),
    "a costless detector sends packets": _bug("cores.h", "if (settings_.lhd) return inject",
                                              "return inject"),
    "the warp's identity is free": _bug(
        "machine.h", "if (is_identified) bytes += settings.identity_bytes;", ""),
    "the identity is always sent": _bug(
        "machine.h", "settings.detects && settings.noc", "true"),
    # A detector with cycles of its own
    "what is told is forgotten": _bug("detector.h", "sms_[sm].push_back(told);", ""),
    "what is told is offered at once": _bug(
        "detector.h", "waiting.front().since < now()", "waiting.front().since <= now()"),
    "the unit does not wait for the detector": _bug("cores.h", "if (own.is_told) return;", ""),
    "a fence does not wait for the detector": _bug(
        "cores.h", "own.unacknowledged || own.is_told", "own.unacknowledged"),
    "a fence does not wait for the banks": _bug(
        "detector.h", "cycle.fencing >> fences[place].warp_slot & 1", "false"),
    "writes are answered before they are made": _bug(
        "detector.h", "Time since = NEVER", "Time since = 0"),
    "a block's begin is not told": _bug("cores.h", "tell(block.sm, block, NOTHING, 0);", ""),
    "a kernel is no launch": _bug("timing.cpp", "given && !given->launch()", "false"),
    "the detector's rest counts": _bug("simulation.h", "each.what != DETECT", "true"),
    "reads are answered as writes": _bug(
        "detector.h", "if (request.asks == Asks::PORT_READ)", "if (false)"),
    # Programs
    "an atomic is one packet": _bug("program.h", "is_atomic && packet.words & words", "false"),
    "volatile loads are cached": _bug(
        "program.h", "event.strong ? Does::VOLATILE_LOAD : Does::LOAD", "Does::LOAD"),
    "accesses to shared memory go out": _bug(
        "program.h", "event.kind <= EventKind::ATOMIC && !event.space",
        "event.kind <= EventKind::ATOMIC"),
}  # fmt: skip


def _differs() -> bool:
    for case in CASES.values():
        found = case.run()
        if any(getattr(found, key) != value for key, value in case.expected.items()):
            return True
    if any(case.differences() for case in DETECTOR_CASES.values()):
        return True
    if run(block_after_block(), PARAMS).cycles != miss(0) + HIT:
        return True
    return any(list(broken_rules(random_trace(seed))) for seed in range(40))


def _exit_if_same() -> None:
    """End the process with 0 if nothing differs; it may also end by a crash, or never."""
    sys.exit(1 if _differs() else 0)


@pytest.mark.campaign
@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(name, tmp_path, monkeypatch):
    for path in library._FOLDER.iterdir():
        if path.suffix in (".h", ".cpp"):
            target = tmp_path / _FOLDER / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    BUGS[name].apply(tmp_path)
    monkeypatch.setattr(library, "_FOLDER", tmp_path / _FOLDER)
    monkeypatch.setattr(library, "_OPTIONS", ("-std=c++20", "-O0", "-Wno-error"))
    library.timing_library.cache_clear()
    try:
        library.timing_library()
        process = get_context("fork").Process(target=_exit_if_same)
        process.start()
        process.join(_SECONDS)
        process.kill()
        process.join()
    finally:
        library.timing_library.cache_clear()
    assert process.exitcode != 0, "cases and rules hold"
