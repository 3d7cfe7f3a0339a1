"""The compiled scoreboard judges a launch as the Python version does, right or changed anywhere."""

import random
import shutil
from contextlib import closing
from itertools import count

import numpy as np
import pytest

from racetrap.golden_model.gpu.model import sum_counters
from racetrap.golden_model.gpu.params import WORDS_PER_LINE
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import LineRegion, RegionTable
from racetrap.golden_model.scord.access_buffer import AccessBuffer
from racetrap.golden_model.scord.detector_bank import DetectorBank
from racetrap.golden_model.scord.interleaver import banks_of
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import (
    Packet,
    PacketKind,
    Step,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.tracker import Tracker
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.packing import nested, pack_tuples, unpack_records
from racetrap.sim.cosim.scord import compiled_scoreboard
from racetrap.sim.cosim.scord.compiled_scoreboard import CompiledScoreboard
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.scord.scoreboard import Scoreboard
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but

#: More warps of an SM than a word of a ``BLOCK_START`` has bits; the upper half is used.
_MANY_WARPS = 64
#: Probability that fences that are late arrive before the next packet.
_ARRIVES = 0.5
_REPORT_COUNTERS = ("reports_written", "reports_dropped", "reports_suppressed")


def _random_case(rng):
    """A random configuration and a region, or a table of them, that it can monitor."""
    banks, words = rng.choice([(1, 1), (2, 1), (3, 1), (4, 4), (6, 2), (24, 8)])
    policy = rng.choice(["stall", "stall", "drop", "sample"])
    regions = rng.choice([1, 1, 3])
    params = ScordParams(
        sm_count=rng.randint(1, 5), blocks_per_sm=rng.randint(1, 3),
        warps_per_sm=rng.choice([2, 4, _MANY_WARPS]), granularity=rng.choice([4, 4, 8, 16]),
        ratio=rng.choice([1, 4, 16]), lock_table_depth=rng.choice([2, 4]),
        fence_id_bits=rng.choice([2, 6]), barrier_id_bits=rng.choice([2, 8]), banks=banks,
        words_per_cycle=words, regions=regions, access_policy=policy,
        access_buffer_depth=int(policy != "stall"), sample_log2=int(policy == "sample"),
        slot_generation_bits=rng.choice([0, 1, 2]),
    )  # fmt: skip
    if regions == 1:
        log2 = params.min_region_log2 + rng.randint(0, 3)
        return params, Region(rng.randint(0, 3) << log2, log2, 1 << 20)
    parts = (LineRegion(0x2080, 1, 0x40000), LineRegion(0x2100, rng.randint(1, 40), 0x80000))
    return params, RegionTable((*parts, LineRegion(), LineRegion(0x80, 9, 0x10000))[:regions])


def _moved(transaction, by):
    """A transaction of a warp slot so many higher."""
    if transaction.kind != TransactionKind.BLOCK_START:
        is_of_warp = transaction.kind != TransactionKind.BARRIER
        return transaction._replace(warp=transaction.warp + by) if is_of_warp else transaction
    high, low = divmod(transaction.warps << by, 1 << WORDS_PER_LINE)
    return transaction._replace(mask=low, lock_mask=high)


class _Launch:
    """What hardware would show of a random launch, in a random order of the SMs.

    Fences reach a bank late with probability ``delay``, behind accesses of warps that must wait for
    them, too.
    """

    def __init__(self, seed, delay=0.0):
        rng = random.Random(f"scoreboard {seed}")
        self.params, self.region = params, region = _random_case(rng)
        knobs = KNOBS[rng.choice(list(KNOBS))]
        events = random_events(params, region, knobs, seed, rng.randint(20, 120))
        self.played = list(transactions_of(events, params))
        if params.warps_per_sm == _MANY_WARPS:
            self.played = [(sm, _moved(t, _MANY_WARPS // 2)) for sm, t in self.played]
        # A start of a block that has no warp; events have none.
        empty = Transaction(TransactionKind.BLOCK_START, slot=rng.randrange(params.blocks_per_sm))
        self.played.insert(len(self.played) // 2, (rng.randrange(params.sm_count), empty))
        self.errors = rng.choice([0, 0, 0.05])
        buffers = [AccessBuffer(params) for _ in range(params.sm_count)]
        trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
        banks = [DetectorBank(params, region, bank) for bank in range(params.banks)]
        queues = [[t for sm, t in self.played if sm == n] for n in range(params.sm_count)]
        self.queues = [pack_tuples(params.transaction_layout, queue) for queue in queues]
        self.left_out = [[] for _ in queues]
        self.steps = [[] for _ in banks]
        self.read_errors = 0
        held = {(bank, sm): [] for bank in range(params.banks) for sm in range(len(queues))}
        places = [0] * len(queues)
        while waiting := [sm for sm, queue in enumerate(queues) if places[sm] < len(queue)]:
            sm = rng.choice(waiting)
            transaction = queues[sm][places[sm]]
            places[sm] += 1
            is_handed_on = buffers[sm].step(transaction, rng.random() < 0.3)
            self.left_out[sm].append(not is_handed_on)
            for packet in trackers[sm].step(transaction) if is_handed_on else ():
                is_fence = packet.kind == PacketKind.FENCE
                for bank in banks_of(params, packet):
                    late = held[bank, sm]
                    if late and rng.random() < _ARRIVES:
                        self.steps[bank] += map(banks[bank].step, late)
                        late.clear()
                    if is_fence and (late or rng.random() < delay):
                        late.append(packet)
                        continue
                    is_read = not is_fence and region.contains(packet.word * 4)
                    error = is_read and rng.random() < self.errors
                    self.read_errors += error
                    self.steps[bank].append(banks[bank].step(packet, error))
        for (bank, _), late in held.items():
            self.steps[bank] += map(banks[bank].step, late)
        self.words = [pack_tuples(params.step_layout, steps) for steps in self.steps]
        self.reports = [
            RaceReport.from_step(params, step, bank, number).record()
            for number, (bank, step) in enumerate(
                (bank, step) for bank, steps in enumerate(self.steps) for step in steps if step.race
            )
        ]
        self.counters = {
            **sum_counters([*banks, *buffers]),
            **dict.fromkeys(_REPORT_COUNTERS, 0),
            "reports_written": len(self.reports),
        }
        self.memory = {}
        for bank in banks:
            self.memory |= bank.entries
        if params.access_policy != "drop":
            self.left_out = [None] * len(queues)

    def entry(self, index):
        return self.memory.get(index, UNINITIALISED_ENTRY)

    def entries(self, indices):
        return np.array([self.entry(index) for index in indices.tolist()], dtype=np.uint64)

    def plain(self):
        """Whether the plain scoreboard agrees."""
        board = Scoreboard(self.params, self.region)
        flags = [iter(each or [None] * len(self.played)) for each in self.left_out]
        columns = [unpack_records(self.params.step_layout, words) for words in self.words]
        try:
            for sm, transaction in self.played:
                board.transaction(sm, transaction, next(flags[sm]))
            for bank, fields in enumerate(columns):
                for step in map(nested(Step, Packet), *fields):
                    board.step(bank, step)
            for record in self.reports:
                board.report(record)
            board.finish(self.counters, self.entry, self.read_errors)
        except Mismatch:
            return False
        return True

    def compiled(self):
        """Whether the compiled one does."""
        with closing(CompiledScoreboard(self.params, self.region)) as board:
            for sm, (words, left_out) in enumerate(zip(self.queues, self.left_out, strict=True)):
                if board.transactions(sm, words, left_out) is None:
                    return False
            return all(map(board.take, count(), self.words)) and board.finish(
                self.counters, self.reports, self.entries, self.read_errors, None
            )

    def change(self, rng):
        """Change a thing or two that the hardware shows; its name."""
        bank = rng.choice([n for n, words in enumerate(self.words) if len(words) > 2])
        words = self.words[bank] = self.words[bank].copy()
        place = rng.randrange(len(words) - 1)
        kind = rng.choice(["bit", "swap", "lost", "twice", "counter", "memory", "report", "buffer"])
        if kind == "bit":
            bit = rng.randrange(self.params.step_layout.width)
            words[place, bit // 32] ^= np.uint32(1 << bit % 32)
        elif kind == "swap":
            words[[place, place + 1]] = words[[place + 1, place]]
        elif kind == "lost":
            self.words[bank] = np.delete(words, place, axis=0)
        elif kind == "twice":
            self.words[bank] = np.insert(words, place, words[place], axis=0)
        elif kind == "counter":
            self.counters[rng.choice(list(self.counters))] += 1
        elif kind == "memory" and self.memory:
            self.memory[rng.choice(list(self.memory))] ^= 1 << rng.randrange(64)
        elif kind == "report" and self.reports:
            self.reports[rng.randrange(len(self.reports))] ^= 1 << rng.randrange(200)
        elif kind == "buffer" and any(self.left_out):
            flags = rng.choice([each for each in self.left_out if each])
            flags[rng.randrange(len(flags))] ^= True
        return kind


def _differs(seed):
    """Whether the two disagree on a launch, or on one of its changes."""
    if _Launch(seed).compiled() is not True:
        return True
    late = _Launch(seed, delay=0.3)
    if late.compiled() != late.plain():
        return True
    rng = random.Random(f"change {seed}")
    for _ in range(3):
        launch = _Launch(seed)
        launch.change(rng)
        if launch.compiled() != launch.plain():
            return True
    return False


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_agrees_with_the_plain_one(first):
    for seed in range(first, first + 20):
        assert not _differs(seed)


def test_late_fences_are_of_both_kinds():
    """Accesses of other warps may come before a fence; those of its own warp may not."""
    assert {_Launch(seed, delay=0.3).plain() for seed in range(40)} == {True, False}


def test_changes_are_of_both_kinds():
    """Steps of different SMs may change places; what else is changed is found."""
    verdicts = set()
    for seed in range(40):
        launch = _Launch(seed)
        kind = launch.change(random.Random(f"change {seed}"))
        verdicts.add((kind, launch.compiled()))
    assert {("swap", True), ("swap", False), ("bit", False), ("lost", False)} <= verdicts


def test_due_and_steps_of_each_transaction():
    launch = _Launch(3)
    with closing(CompiledScoreboard(launch.params, launch.region)) as board:
        steps = [
            board.transactions(sm, words, left_out)
            for sm, (words, left_out) in enumerate(zip(launch.queues, launch.left_out, strict=True))
        ]
        assert board.due == [len(words) for words in launch.words]
        assert sum(int(each.sum()) for each in steps) == sum(board.due) > 0
        for sm, words in enumerate(launch.words):
            assert board.take(sm, words)
        assert set(board.due) == {0}
        assert {name: launch.counters[name] for name in board.counters} == board.counters


_BUGS = {
    "a barrier is not counted": Patch("tracker.h", "id = (id + 1) &", "id = id &"),
    "a barrier id does not wrap": Patch(
        "tracker.h", "((1u << settings_.barrier_id_bits) - 1)", "~0u"),
    "a block keeps the locks of the one before": Patch(
        "tracker.h", "!(warps >> warp & 1)", "!(warps >> warp & 2)"),
    "warps above 32 keep their locks": Patch(
        "tracker.h", "uint64_t(each.lock_mask) << LINE_WORDS | each.mask", "each.mask"),
    "a start of a block is not counted": Patch("tracker.h", "is_any = true;", "is_any = false;"),
    "a block without warps is counted": Patch(
        "tracker.h", "is_any = false;", "is_any = true;"),
    "a generation does not wrap": Patch(
        "tracker.h", "((1u << settings_.slot_generation_bits) - 1)", "~0u"),
    "generations are not compared": Patch(
        "detector_bank.h", "part(entry, at.generation) == packet.generation;", "true;"),
    "an entry keeps no generation": Patch(
        "detector_bank.h", "(packet.generation ? uint64_t(packet.generation) <<",
        "(packet.generation ? uint64_t(0) <<"),
    "a fence does not activate locks": Patch("tracker.h", "table.fence(each.scope);", ""),
    "a block fence activates device locks": Patch(
        "tracker.h", "state == PENDING_DEVICE ? HELD_BLOCK_BY_DEVICE",
        "state == PENDING_DEVICE ? HELD_DEVICE"),
    "a device lock has no key of its block": Patch(
        "tracker.h", "entry.state >= HELD_BLOCK)", "entry.state == HELD_BLOCK)"),
    "a lock of the other scope leaves": Patch(
        "tracker.h", "entry.lock == lock && cas_scope(entry.state) == scope",
        "entry.lock == lock && cas_scope(entry.state) <= scope"),
    "the newest lock is dropped": Patch(
        "tracker.h", "entries_.pop_back();", "entries_.erase(entries_.begin());"),
    "words of a granule are not joined": Patch(
        "tracker.h", "granules |= mask >> distance;", "granules |= mask >> 32 * (distance / 32);"),
    "a dropped atomic is counted by granules": Patch(
        "tracker.h", "is_atomic ? each.mask : granule_mask(each.mask, settings.",
        "is_atomic && false ? each.mask : granule_mask(each.mask, settings."),
    "a line is always sampled": Patch("tracker.h", "return parts != 0;", "return parts > 1;"),
    "an access overtakes its warp's fence": Patch(
        "scoreboard.cpp", "of_warp_[each.warp] = of_block_", "of_block_"),
    "an access overtakes a barrier's fences": Patch(
        "scoreboard.cpp", "at_barrier_[each.slot] = of_block_[each.slot];", "{}"),
    "a fence overtakes accesses": Patch(
        "scoreboard.cpp", "is_fence ? accesses : behind", "is_fence ? 0 * accesses : behind"),
    "residues of ports are cut": Patch(
        "tracker.h", "residue % settings.odd_ports << low", "residue % 2 << low"),
    "a tag is not compared": Patch("detector_bank.h", "part(entry, at.tag) != tag;", "false;"),
    "a barrier hides accesses of other blocks": Patch(
        "detector_bank.h", "packet.barrier_id && !(entry & DEV_SHARED))", "packet.barrier_id)"),
    "a read hides its warp's write": Patch(
        "detector_bank.h", "take |= entry & MODIFIED;", "take |= 0;"),
    "scoped atomics do not race": Patch("detector_bank.h", "!(entry & SCOPE))", "false)"),
    "atomics in a block race": Patch(
        "detector_bank.h", "if (entry & take & IS_ATOM)", "if (false)"),
    "a block fence orders what the device shares": Patch(
        "detector_bank.h", "if (!a.blk_fenced || entry & DEV_SHARED)", "if (!a.blk_fenced)"),
    "locks are not intersected": Patch(
        "detector_bank.h", "else if (!own_empty) entry &= ~FILTER_MASK | a.locks;", ""),
    "a fence counter does not wrap": Patch(
        "detector_bank.h", "((1u << settings_.fence_id_bits) - 1)", "~0u"),
    "a region ends a line too late": Patch(
        "detector_bank.h", "address >= region.end)", "address >= region.end + 128)"),
}  # fmt: skip
_QUICK = ("scoped atomics do not race",)


@pytest.mark.parametrize(
    "name",
    later_but(_QUICK.__contains__, _BUGS),
)
def test_bug_in_the_compiled_one_is_seen(name, tmp_path, monkeypatch):
    folder = shutil.copytree(compiled_scoreboard._FOLDER, tmp_path / "compiled")
    _BUGS[name].apply(folder)
    monkeypatch.setattr(compiled_scoreboard, "_FOLDER", folder)
    monkeypatch.setattr(compiled_scoreboard, "_OPTIONS", ("-std=c++20", "-O0"))
    compiled_scoreboard.prepare_scoreboard.cache_clear()
    try:
        assert any(map(_differs, range(600))), "600 launches do not differ"
    finally:
        compiled_scoreboard.prepare_scoreboard.cache_clear()
