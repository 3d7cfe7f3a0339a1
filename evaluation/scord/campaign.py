"""Random tests of ScoRD: cases of two launches, further ones amid transactions, and two with the
model of its cycles.

Stimulus, timing of the memories, region and report ring are drawn for each case.  A quarter
of the regions are of any size that the parameters take.  The very first launch really sweeps 2**20
metadata entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from random import Random
from typing import Any

from racetrap.evaluation.campaign.gpu_volume import (
    ACCESSES,
    AMID_ACCESSES,
    ANY_SIZE,
    FIGURES,
    LATE,
    amid_options,
    cut_short,
    launch_options,
    launches_amid,
    memory_timing,
    reset_amid,
    without_errors,
)
from racetrap.evaluation.campaign.random_volume import RandomVolume
from racetrap.golden_model.gpu.params import ENTRY_BYTES, LINE_BYTES
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import (
    LineRegion,
    MonitoredRegion,
    RegionTable,
    table_of,
)
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.register_exercise import exercise_registers
from racetrap.sim.cosim.gpu.launch_result import LaunchResult
from racetrap.sim.cosim.gpu.refused_launch import refuse_launches
from racetrap.sim.cosim.scord.coverage import Coverage
from racetrap.sim.cosim.scord.cycle_compare import check_cycles
from racetrap.sim.cosim.scord.cycle_model import CycleModel, has_no_model
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import at_tiles, random_events, transactions_of

#: Log2 of the metadata entries that the first launch of case 0 sweeps.
_SWEEP_LOG2 = 20
#: Log2 of the largest region of most launches: threads meet in it.
_SMALL_LOG2 = 16
#: Most lines of most regions of a table.
_MOST_SMALL_LINES = 64


def play(
    model: FastModel[ScordParams], number: int, random: Random, observer: Coverage | None
) -> Iterator[LaunchResult]:
    """Play the launches of case ``number``; gives what each compared.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    params, places = model.params, model.places
    transactions: Sequence[Any] = ()
    with FastSim(model, random.getrandbits(63)) as sim:
        for kernel, accesses in enumerate(ACCESSES):
            reset_amid(sim, random, transactions)
            sweep = number == kernel == 0 and (places is None or places.are_all)
            region = _region(random, params, sweep)
            exercise_registers(sim, random)
            refuse_launches(sim, params, region, random)
            transactions = cut_short(random, _transactions(model, region, number, random, accesses))
            # A buffer of one place is full behind a barrier, and drops what would be waited for.
            options = launch_options(random, params.access_policy != AccessPolicy.DROP)
            sim.timing = memory_timing(random, places, options["capacity_log2"])
            yield _launch(sim, model, region, transactions, {**options, "sweep": sweep}, observer)
        # What a buffer leaves out is counted from the first transaction on.
        amid = 0 if params.access_buffer_depth else launches_amid(model, region)
        for _ in range(amid):
            sim.timing = without_errors(sim.timing)
            transactions = _transactions(model, region, number, random, AMID_ACCESSES)
            yield _launch(sim, model, region, transactions, amid_options(random), observer)
    if places is None and not has_no_model(params):
        _compare_cycles(model, number, random)


def _compare_cycles(model: FastModel[ScordParams], number: int, random: Random) -> None:
    """Two further launches, compared with the model of the hardware's cycles."""
    params, timing = model.params, without_errors(memory_timing(random))
    with ExitStack() as stack:
        sim = stack.enter_context(FastSim(model, random.getrandbits(63)))
        own = stack.enter_context(CycleModel(params, _region(random, params, False)))
        for accesses in (ACCESSES[1], ACCESSES[1] // 4):
            region = _region(random, params, False)
            played = _transactions(model, region, number, random, accesses)
            check_cycles(sim, own, params, region, played, timing, random.getrandbits(32))


def _table(random: Random, params: ScordParams, sweep: bool) -> RegionTable:
    """Regions of any number of lines, each in its part of the address space or next to another."""
    # The lower half of the address space: accesses may run past the end of a region.
    part_log2 = params.address_bits - 1 - (params.regions - 1).bit_length()
    share = params.granularity * params.ratio
    # So many lines that the metadata fit in a part, too.
    most = (1 << part_log2) // max(LINE_BYTES, LINE_BYTES * ENTRY_BYTES // share) // 2
    # A region's metadata have an entry more for each that the banks' turns begin with.
    most = min(most - (1 << params.bank_index_bits), (1 << 32) - 1)
    count = random.randint(1, params.regions)
    if sweep:
        lines = [min(most, (share << _SWEEP_LOG2) // LINE_BYTES // count)] * count
    else:
        lines = [
            random.randint(1, most if random.random() < ANY_SIZE / 2 else _MOST_SMALL_LINES)
            for _ in range(count)
        ]
    if sweep or (random.random() < 0.5 and sum(lines) < most):
        base, parts = LINE_BYTES * random.randrange(1 << 16), []
        for number in lines:
            parts.append((base, number))
            base += number * LINE_BYTES
        return table_of(params, parts, params.segment_bytes * random.randrange(1 << 8))
    places = random.sample(range(params.regions), count)
    regions = []
    for place, number in zip(places, lines, strict=True):
        first = (place << part_log2) // LINE_BYTES
        room = (1 << part_log2) // LINE_BYTES - number
        region = LineRegion(LINE_BYTES * (first + random.randrange(room)), number)
        spare = (1 << part_log2) - ENTRY_BYTES * region.entries(params)
        metadata = (place << part_log2) + params.segment_bytes * random.randrange(
            spare // params.segment_bytes
        )
        regions.append(replace(region, metadata_base=metadata))
    return RegionTable(tuple(regions))


def _region(random: Random, params: ScordParams, sweep: bool) -> MonitoredRegion:
    """A region anywhere but at the very end, which accesses may run past; with 2**20 entries for a
    sweep."""
    if params.regions > 1:
        return _table(random, params, sweep)
    low = max(params.min_region_log2, LINE_BYTES.bit_length() - 1)
    share_log2 = params.granularity_bits + params.tag_bits
    high = min(
        params.max_region_log2, params.address_bits - 1, params.address_bits - 5 + share_log2
    )
    size_log2 = random.randint(low, min(high, max(low, _SMALL_LOG2)))
    if sweep:
        size_log2 = min(high, _SWEEP_LOG2 + share_log2)
    elif random.random() < ANY_SIZE:
        size_log2 = random.randint(low, high)
    data_base = random.randrange((1 << params.address_bits - size_log2) - 1) << size_log2
    entries = Region(data_base, size_log2).entries(params)
    unit = params.segment_bytes
    metadata_base = unit * random.randrange(
        (1 << params.address_bits) // unit - entries // params.words_per_cycle
    )
    return Region(data_base, size_log2, metadata_base)


def _transactions(
    model: FastModel[ScordParams], region: MonitoredRegion, number: int, random: Random,
    accesses: int,
) -> Sequence[Any]:  # fmt: skip
    """Random transactions for the SMs that are there."""
    params, places = model.params, model.places
    knobs = list(KNOBS.values())[number % len(KNOBS)]
    # An access with n active lanes gives about n/2 accesses to words.
    instructions = 2 * accesses // (knobs.lanes + 1)
    playing = params if places is None else places.playing
    events = random_events(playing, region, knobs, random.getrandbits(32), instructions)
    transactions = transactions_of(events, playing)
    return list(transactions if places is None else at_tiles(transactions, places))


def _launch(
    sim: FastSim, model: FastModel[ScordParams], region: MonitoredRegion,
    transactions: Sequence[Any], options: Mapping[str, Any], observer: Coverage | None,
) -> LaunchResult:  # fmt: skip
    if observer is not None:
        observer.launch(region)
    return check_launch(
        sim, model.params, region, transactions, **options, observer=observer,
        late_cycles=0 if model.places is None else LATE, places=model.places,
    )  # fmt: skip


RANDOM_VOLUME = RandomVolume(play, FIGURES)
