"""Benches of the blocks of causality for mutants: each plays a block beside its golden model.

A bench is given the block's component, or what stands for it, with the parameters of the preset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from random import Random

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.collector import Collector
from racetrap.rtl.causality.detection_logic import DetectionLogic
from racetrap.rtl.causality.detector_bank import DetectorBank
from racetrap.rtl.causality.entry import EntryUpdate
from racetrap.rtl.causality.interleaver import Interleaver
from racetrap.rtl.causality.mark_keeper import MarkKeeper
from racetrap.rtl.causality.notice_order import NoticeOrder, number_bits, packets_in_flight
from racetrap.rtl.causality.tracker import Tracker
from racetrap.rtl.causality.warp_order import WarpOrder
from racetrap.rtl.causality.warp_row import BranchUpdate, WarpRows
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.gpu.region import RegionDecoder
from racetrap.rtl.gpu.report_filter import ReportFilter
from tests.support.causality import branch_bench, encounter_bench
from tests.support.causality.bank_bench import CausalityBankBench, RandomItems
from tests.support.causality.collector_bench import CollectorBench
from tests.support.causality.interleaver_bench import check_random
from tests.support.causality.keeper_bench import (
    KeeperBench,
    check_behind_a_mark,
    check_limits,
)
from tests.support.causality.notice_bench import NoticeBench
from tests.support.causality.random_items import RandomItems as CollectorItems
from tests.support.causality.rows_bench import RowsBench
from tests.support.causality.tracker_bench import TrackerBench, random_transactions
from tests.support.gpu import filter_bench
from tests.support.gpu.region_bench import check_places
from tests.support.rtl.block_bench import BlockBench, Make
from tests.support.rtl.fifo_bench import check_fifo
from tests.support.rtl.metadata_memory import MemoryKnobs
from tests.support.scord.bank_packets import a_region


def _bank(make: Make, params: CausalityParams, seed: int) -> None:
    class Bench(CausalityBankBench):
        detector = staticmethod(make)

    rng, third = Random(seed), 500
    region = a_region(params, metadata_base=0x1240)
    made = RandomItems(params, region, rng, entries=(1, 3, 12)[seed % 3], others=0.3)
    items = [*made.make(third), made.fence(), *made.make(third), made.new_epoch()]
    items += made.make(third)
    errors = 0.2 * (seed % 4 == 3)
    knobs = MemoryKnobs(
        read_latency=(0, 20), write_latency=(0, 10), reorder=0.7, ready=0.3 + 0.7 * (seed % 2),
        read_error=errors, write_error=errors,
    )  # fmt: skip
    bench = Bench(
        params, region, knobs=knobs, seed=seed, put=(1, 0.3)[seed % 2],
        report_ready=(1, 0.05, 0.5)[seed % 3],
    )  # fmt: skip
    bench.run(items, cycles=100_000)


def _collector(make: Make, params: CausalityParams, seed: int) -> None:
    items = CollectorItems(params, seed)
    launches = [items.launch(200), items.launch(100)]
    bench = CollectorBench(
        params, launches, seed=seed or None, in_order=seed % 2, component=make
    )  # fmt: skip
    bench.run()


def _tracker(make: Make, params: CausalityParams, seed: int) -> None:
    transactions = random_transactions(params, Random(seed), 300)
    bench = TrackerBench(params, str(seed), sm=seed % 2, tracker=make, others=0.3 * (seed % 3 > 0))
    bench.run(transactions)
    bench.check(transactions)


def _interleaver(make: Make, params: CausalityParams, seed: int) -> None:
    check_random(params, seed, make)


def _keeper(make: Make, params: CausalityParams, seed: int) -> None:
    bench = KeeperBench(
        params, seed, make, packets=(0.7, 0.95, 0.2)[seed % 3], eager=(0.7, 0.1)[seed % 2]
    )
    bench.run(600)
    check_limits(params, make)
    check_behind_a_mark(params, make, before=13 * seed)


def _notices(make: Make, params: CausalityParams, seed: int) -> None:
    bench = NoticeBench(params, str(seed), make)
    if seed % 2:
        bench.run(600, [bench.rng.choice((0.1, 0.5, 0.8)) for _ in range(params.banks)])
    else:
        bench.check_stuck()


def _branches(make: Make, params: CausalityParams, seed: int) -> None:
    rtl = encounter_bench.rtl_of()
    rtl.BranchUpdate = make
    branch_bench.compare(params, str(seed), 300, rtl)


def _rows(make: Make, params: CausalityParams, seed: int) -> None:
    RowsBench(params, seed, make).run(1000)


def _encounters(name: str, make: Make, params: CausalityParams, seed: int) -> None:
    rtl = encounter_bench.rtl_of()
    setattr(rtl, name, make)
    encounter_bench.compare(params, str(seed), 2000, rtl)


def _fifo(depth: int, make: Make, params: CausalityParams, seed: int) -> None:
    dut = make(params)
    check_fifo(dut, len(dut.i.payload), depth, seed)


def _filter(make: Make, params: CausalityParams, seed: int) -> None:
    filter_bench.compare(params, seed, make)


def _places(make: Make, params: CausalityParams, seed: int) -> None:
    # The window of shared memory is the locator's.
    check_places(replace(params, shared_bytes=0), seed, lambda _: make(params))


def benches(params: CausalityParams) -> Mapping[str, BlockBench]:
    """Benches of the blocks of a preset, by the name of the block."""

    def fifo(width: int, depth: int) -> BlockBench:
        return BlockBench(lambda _: StreamFifo(width, depth), partial(_fifo, depth), 4)

    in_flight = packets_in_flight(params)
    encounters = {
        "bank_lane_pipeline_writer_order": WarpOrder,
        "bank_lane_pipeline_update": EntryUpdate,
        "bank_lane_pipeline_logic": DetectionLogic,
    }
    return {
        "bank": BlockBench(DetectorBank, _bank, 8),
        "bank_lane_pipeline_rows": BlockBench(WarpRows, _rows, 6),
        "bank_lane_pipeline_rows_update": BlockBench(BranchUpdate, _branches, 6),
        **{
            block: BlockBench(component, partial(_encounters, component.__name__), 4)
            for block, component in encounters.items()
        },
        "bank_locator_decoder": BlockBench(RegionDecoder, _places, 6),
        "bank_fifo": fifo(params.segment_layout.width, params.packet_fifo_depth),
        "bank_lane_notices": fifo(params.notice_layout.width, params.report_fifo_depth),
        "collector": BlockBench(Collector, _collector, 24),
        "interleaver": BlockBench(Interleaver, _interleaver, 6),
        "mark_keeper": BlockBench(MarkKeeper, _keeper, 6),
        "notice_order": BlockBench(NoticeOrder, _notices, 6),
        "notice_order_numbers_checked": fifo(number_bits(params), in_flight + 1),
        "report_fifo": fifo(params.report_layout.width, params.report_fifo_depth),
        "report_path_filter": BlockBench(ReportFilter, _filter, 6),
        "tracker": BlockBench(Tracker, _tracker, 12),
    }  # fmt: skip
