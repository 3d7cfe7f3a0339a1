"""Launches on the hardware agree with the golden model, and planted differences are found."""

import gc
import re
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.packing import pack_records, unpack_column, unpack_records, words_of
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.scord.scoreboard import Scoreboard
from racetrap.sim.cosim.verilator.patch import Patch

_LAYOUT = find_preset("scord-tiny").params.step_layout
#: The highest bit of a step's last word, which no field has.
_PADDING = np.array([0] * (words_of(_LAYOUT) - 1) + [1 << 31], dtype=np.uint32)
_SEEN = ("transaction", "step", "report")


def _ignore(*arguments):
    """An observer that looks away."""


_TIMINGS = {
    "fastest": MemoryTiming(),
    "slow": MemoryTiming(idle_percent=40, latency=9, jitter=25, reorder=True, back_pressure=30),
    "errors": MemoryTiming(jitter=5, reorder=True, read_errors=3000, write_errors=3000),
}


@pytest.mark.parametrize("knobs", KNOBS)
@pytest.mark.parametrize("timing", _TIMINGS)
def test_hardware_agrees(model, region, traffic, knobs, timing):
    with FastSim(model, seed=5, timing=_TIMINGS[timing]) as sim:
        for seed, in_order in ((1, False), (2, True), (3, False)):
            result = check_launch(
                sim, model.params, region, traffic(knobs, seed=seed),
                in_order=in_order, capacity_log2=4, report_filter=seed == 3,
            )  # fmt: skip
            assert result.accesses > 0
            assert result.steps >= result.accesses
        assert (sim.stats.read_errors > 0) == (timing == "errors")
        assert (sim.stats.write_errors > 0) == (timing == "errors")
        assert sim.stats.report_errors == 0 or timing == "errors"


def _reset_in_the_midst(model, region, traffic, resets=6):
    """Launches after resets at different moments, with transactions of all sorts under way."""
    timing = MemoryTiming(latency=6, jitter=9, back_pressure=20, watchdog=3000)
    with FastSim(model, seed=8, timing=timing) as sim:
        for number in range(resets):
            sim.launch(region)
            sim.reset_after(sim.queues(traffic("mixed", seed=number)), 40 + 23 * number)
            result = check_launch(sim, model.params, region, traffic("locks", 40, number))
            assert result.accesses > 0
        assert sim.read("REPORT_HEAD") == len(result.reports)


def test_reset_in_the_midst_of_a_run(model, region, traffic):
    _reset_in_the_midst(model, region, traffic)


def _failing_writes(model, region, traffic):
    with FastSim(model, seed=5, timing=_TIMINGS["errors"]) as sim:
        for seed in range(4):
            check_launch(sim, model.params, region, traffic("contended", seed=seed))
        assert sim.stats.report_errors > 0


def test_failing_writes(model, region, traffic):
    _failing_writes(model, region, traffic)


_PLANTED_IN_RTL = {
    "fence without reset": Patch(
        "scord/fence_hold.py",
        "fencing = Signal(warps)",
        "fencing = Signal(warps, reset_less=True)",
    ),
    "head passes a failed write": Patch(
        "common/report_writer.py",
        "self.o_head.eq(self.o_head + ~failed)",
        "self.o_head.eq(self.o_head + 1)",
    ),
    "entry written to one address": Patch("gpu/entry_writer.py", "AxiBurst.INCR", "AxiBurst.FIXED"),
    "entry read exclusively": Patch(
        "gpu/metadata_accessor.py",
        "axi.arburst.eq(AxiBurst.INCR),",
        "axi.arburst.eq(AxiBurst.INCR), axi.arlock.eq(1),",
    ),
    "address withdrawn before it is taken": Patch(
        "gpu/entry_writer.py", "with m.If(axi.awready):", "with m.If(~entry_waits):"
    ),
    "record wraps": Patch("common/report_writer.py", "AxiBurst.INCR", "AxiBurst.WRAP"),
    "failed write not counted": Patch(
        "common/report_writer.py", "self.o_write_error.eq(failed)", "self.o_write_error.eq(0)"
    ),
}


# A build each; `make test` has differences planted in what the hardware says.
@pytest.mark.campaign
@pytest.mark.parametrize("name", _PLANTED_IN_RTL)
def test_planted_bug_is_found(model, region, traffic, name):
    """A register without a reset shows only after a reset in mid-run."""
    built = build_fast(model.preset, model.params, _PLANTED_IN_RTL[name])
    play = _reset_in_the_midst if "reset" in name else _failing_writes
    with pytest.raises((Mismatch, SimulationError)) as caught:
        play(built, region, traffic)
    print(f"{name}: {caught.value}")


def test_order_gives_the_golden_models_races(model, region, sim):
    events = list(random_events(model.params, region, KNOBS["contended"], 4, 200))
    scord = Scord(model.params, region)
    for event in events:
        scord.run(event)
    transactions = transactions_of(events, model.params)
    result = check_launch(sim, model.params, region, transactions, in_order=True, capacity_log2=10)
    assert [RaceReport.from_record(record).key for record in result.reports] == [
        race.key for race in scord.races
    ]
    assert result.races == len(scord.races) > 10


def _flip(words):
    words = words.copy()
    words[9, 3] ^= 1
    return words


def _swap(words):
    """Two neighbours of one block change places; those of different SMs may."""
    blocks = unpack_column(_LAYOUT, words, "packet.block")
    n = next(
        n
        for n, (one, other) in enumerate(pairwise(words))
        if blocks[n] == blocks[n + 1] and (one != other).any()
    )
    return words[[*range(n), n + 1, n, *range(n + 2, len(words))]]


def _of_another_sm(words):
    """A step is said to be of an SM that the GPU does not have."""
    steps = pack_records(_LAYOUT, unpack_records(_LAYOUT, words))
    offset, width = next(place for name, *place in _LAYOUT.flat() if name == "packet.block")
    steps[4, offset // 32] |= ((1 << width) - 1) << offset % 32
    return steps


def _ended(masks, cycles, after):
    """The first fence of an SM is shown for some cycles alone."""
    ends = cycles[0] + after
    return np.array([masks[0], 0, *masks[2:]], masks.dtype), [cycles[0], ends, *cycles[2:]]


_PLANTED = {
    "step changed": ("step_words", _flip),
    "step lost": ("step_words", lambda words: words[:-1]),
    "step twice": ("step_words", lambda words: np.concatenate([words, words[-1:]])),
    "steps swapped": ("step_words", _swap),
    "step of no SM": ("step_words", _of_another_sm),
    "bit outside fields": ("step_words", lambda words: words | _PADDING),
    "report changed": ("reports", lambda records: [records[0] ^ 1 << 3, *records[1:]]),
    "report lost": ("reports", lambda records: records[1:]),
    "reports swapped": ("reports", lambda records: [records[1], records[0], *records[2:]]),
    "entry changed": ("entries", lambda entries: entries ^ np.uint64(1)),
    "fence shown a cycle late": ("fencing", lambda shown: (shown[0], [at + 1 for at in shown[1]])),
    "fence ends at once": ("fencing", lambda shown: _ended(*shown, 2)),
    "fence ends late": ("fencing", lambda shown: _ended(*shown, 5_000)),
    "fence never shown": ("fencing", lambda shown: (shown[0][:0], [])),
    "access not counted": ("counters", lambda counters: counters | {"accesses": 1}),
    "race not counted": ("counters", lambda counters: counters | {"races_not_strong": 99_999}),
}


@pytest.mark.parametrize("observer", [None, SimpleNamespace(**dict.fromkeys(_SEEN, _ignore))])
@pytest.mark.parametrize("what", _PLANTED)
def test_planted_difference_is_found(model, region, sim, traffic, monkeypatch, what, observer):
    name, change = _PLANTED[what]
    original = getattr(FastSim, name)
    monkeypatch.setattr(FastSim, name, lambda self, *arguments: change(original(self, *arguments)))
    transactions = traffic("contended")
    with pytest.raises(Mismatch):
        check_launch(sim, model.params, region, transactions, observer=observer)


def test_sentence_names_the_field(model, region, sim, traffic, monkeypatch):
    original = FastSim.step_words
    monkeypatch.setattr(FastSim, "step_words", lambda self, bank: _flip(original(self, bank)))
    with pytest.raises(Mismatch) as caught:
        check_launch(sim, model.params, region, traffic("contended"))
    sms = unpack_column(_LAYOUT, original(sim, 0), "packet.block") >> model.params.slot_bits
    kinds = unpack_column(_LAYOUT, original(sim, 0), "packet.kind") == PacketKind.FENCE
    assert not kinds[9]
    number = int(((sms[:9] == sms[9]) & ~kinds[:9]).sum())  # of the packet among those of its SM
    place = f"Bank 0, SM {sms[9]}, packet {number}: packet differs"
    assert re.match(rf"{place}: \w+ must be .*, not .*; golden", str(caught.value))


def test_launch_that_agrees_is_compared_as_one_array(model, region, sim, traffic, monkeypatch):
    monkeypatch.setattr(Scoreboard, "step", None)
    assert check_launch(sim, model.params, region, traffic("tags")).accesses > 0


def test_collector_is_on_again(model, region, sim, traffic):
    check_launch(sim, model.params, region, traffic())
    assert gc.isenabled()


def test_same_seed_same_cycles(model, region, traffic):
    def run():
        with FastSim(model, seed=11, timing=_TIMINGS["slow"]) as sim:
            check_launch(sim, model.params, region, traffic())
            return sim.stats.cycles

    assert run() == run()


def test_observer_sees_everything(model, region, sim, traffic):
    seen = Counter()

    class Observer:
        def transaction(self, sm, transaction, before, after, packets):
            seen["transactions"] += 1
            seen["changed"] += before != after

        def left_out(self, transaction):
            seen["left out"] += 1

        def step(self, bank, step):
            seen["steps"] += 1

        def report(self, report):
            seen["reports"] += 1

    transactions = traffic("locks")
    result = check_launch(
        sim, model.params, region, transactions, capacity_log2=10, observer=Observer()
    )
    assert seen["transactions"] == len(transactions)
    assert seen["changed"] > 0
    assert seen["left out"] == 0
    assert seen["steps"] == result.steps
    assert seen["reports"] == len(result.reports) > 0
