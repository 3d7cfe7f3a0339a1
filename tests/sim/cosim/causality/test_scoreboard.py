"""The scoreboard's rules, with the golden model in the hardware's place: each check must fail."""

from dataclasses import replace
from itertools import pairwise

import pytest

from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.entry import unpack_entry
from racetrap.golden_model.causality.packets import (
    CollectorEvent,
    FenceOrder,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.report import RaceReport
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.causality.fast_compare import transactions_of
from racetrap.sim.cosim.causality.random_events import random_events
from racetrap.sim.cosim.causality.scoreboard import COUNTERS, Scoreboard
from racetrap.sim.cosim.causality.styles import STYLES
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from tests.support.causality.recorded_launch import RecordedLaunch, tell

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=4, clock_bits=4, hash_bits=8, ratio=4, banks=2,
    shared_bytes=256,
)  # fmt: skip
_REGION = Region(0x2000, 12)
_KIND = TransactionKind
_ACCESS_FIELDS = Transaction._fields[:16]


def _random(style, seed=3, instructions=250):
    return transactions_of(
        random_events(_PARAMS, _REGION, STYLES[style], seed, instructions), _PARAMS
    )


def _played(transactions, **options):
    device = RecordedLaunch(_PARAMS, _REGION, **options)
    device.play(transactions)
    return device


def _board(transactions, observer=None):
    board = Scoreboard(_PARAMS, _REGION, observer)
    for sm, transaction in transactions:
        board.transaction(sm, transaction)
    return board


@pytest.fixture(scope="module")
def program():
    return _random("mixed")


@pytest.fixture(scope="module")
def device(program):
    made = _played(program)
    assert len(made.records) > 20
    assert {kind for kind, _ in made.seen if isinstance(kind, CollectorEvent)} == set(
        CollectorEvent
    )
    return made


def _end(board, device, records=None, **changes):
    for record in device.records if records is None else records:
        board.report(record if isinstance(record, int) else record.record())
    board.finish(device.totals(**changes), device.entry, len(device.read_errors))


def _whole(board, device, seen):
    tell(board, seen)
    _end(board, device)


@pytest.mark.parametrize("style", STYLES)
def test_agreement(style):
    program = _random(style)
    device, board = _played(program), _board(program)
    tell(board, device.seen)
    _end(board, device)
    assert board.steps_of == [
        sum(kind == bank and not isinstance(kind, CollectorEvent) for kind, _ in device.seen)
        for bank in range(_PARAMS.banks)
    ]


@pytest.mark.parametrize("field", [name for name in Step._fields if name != "packet"])
def test_every_field_of_a_step_is_compared(program, device, field):
    place = next(
        n for n, (kind, what) in enumerate(device.seen)
        if not isinstance(kind, CollectorEvent) and unpack_entry(_PARAMS, what.before).writer
    )  # fmt: skip
    bank, step = device.seen[place]
    changed = step._replace(**{field: getattr(step, field) ^ 1})
    what = "before" if field == "read_error" else field
    with pytest.raises(Mismatch, match=rf"^Bank {bank}, step \d+: step differs: .*{what} must be"):
        tell(_board(program), [*device.seen[:place], (bank, changed)])


def test_a_bank_forgets_no_fence(program, device):
    place = max(
        n for n, (kind, what) in enumerate(device.seen)
        if not isinstance(kind, CollectorEvent) and what.fenced
    )  # fmt: skip
    bank, step = device.seen[place]
    with pytest.raises(Mismatch, match="fenced must be 1, not 0"):
        tell(_board(program), [*device.seen[:place], (bank, step._replace(fenced=0))])


@pytest.mark.parametrize("field", _ACCESS_FIELDS)
def test_every_field_of_an_access_counts(program, device, field):
    place = next(n for n, (_, each) in enumerate(program) if each.kind == _KIND.LOAD)
    sm, access = program[place]
    changed = access._replace(**{field: getattr(access, field) ^ 1})
    with pytest.raises(Mismatch, match=r"packet differs|no packet must come|must be of an SM"):
        tell(_board([*program[:place], (sm, changed), *program[place + 1 :]]), device.seen)


@pytest.mark.parametrize(
    "change", [{"order": FenceOrder.ACQUIRE}, {"device": 0}, {"warp": 1}, {"kind": _KIND.ARRIVE}]
)
def test_what_a_marker_says_counts(change):
    start = (0, Transaction(_KIND.BLOCK_START, warps=3))
    fence = Transaction(_KIND.FENCE, order=FenceOrder.RELEASE, device=1)
    store = (0, Transaction(_KIND.STORE, word=0x800, bytes=15, lanes=1, writes=1))
    device = _played([start, (0, fence), store])
    tell(_board([start, (0, fence), store]), device.seen)
    with pytest.raises(Mismatch, match="packet differs"):
        tell(_board([start, (0, fence._replace(**change)), store]), device.seen)


@pytest.mark.parametrize("kind", [0, 1, *CollectorEvent])
@pytest.mark.parametrize("times", [0, 2])
def test_missing_and_surplus_observations_are_seen(program, device, kind, times):
    places = [n for n, (each, _) in enumerate(device.seen) if each is kind]
    for place in (places[0], places[-1]):
        before, what, after = (
            device.seen[:place], device.seen[place : place + 1], device.seen[place + 1 :]
        )  # fmt: skip
        board = _board(program)
        with pytest.raises(Mismatch):
            _whole(board, device, [*before, *times * what, *after])


def test_steps_of_an_sm_are_in_its_order(program, device):
    steps = [
        (n, what.packet) for n, (kind, what) in enumerate(device.seen)
        if not isinstance(kind, CollectorEvent) and kind == 0
    ]  # fmt: skip
    first, second = next(
        (n, m) for (n, one), (m, other) in pairwise(steps)
        if one.block == other.block and one != other
    )  # fmt: skip
    seen = list(device.seen)
    seen[first], seen[second] = seen[second], seen[first]
    with pytest.raises(Mismatch, match="packet differs"):
        tell(_board(program), seen)


def _difference(program, seen):
    """What a scoreboard says of observations; empty if nothing."""
    try:
        tell(_board(program), seen)
    except Mismatch as error:
        return str(error)
    return ""


def test_a_marker_waits_for_the_notices_of_its_sm(program, device):
    seen = device.seen
    differences = [
        _difference(program, [*seen[:place], seen[place + 1], seen[place]])
        for place in range(1, len(seen) - 1)
        if seen[place][0] is CollectorEvent.NOTICE and seen[place + 1][0] is CollectorEvent.MARKER
        and _PARAMS.sm_of_block(seen[place - 1][1].packet.block) == seen[place + 1][1]
    ]  # fmt: skip
    # Branches and warp barriers do not wait.
    assert sum("must be taken before" in each for each in differences) > len(differences) / 2 > 1


def test_a_marker_waits_for_the_steps_of_its_sm():
    start = (0, Transaction(_KIND.BLOCK_START, warps=1))
    store = (0, Transaction(_KIND.STORE, word=0x800, bytes=15, lanes=1, writes=1))
    fence = (0, Transaction(_KIND.FENCE))
    program = [start, store, fence]
    first, step, *others = _played(program).seen
    board = _board(program)
    with pytest.raises(Mismatch, match="must check all packets of SM 0 before"):
        tell(board, [first, others[0], step])


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (2, 3, 0, 1)], ids=["waits", "not-checked"])
def test_notices_of_an_sm_are_taken_in_its_order(program, device, order):
    """An earlier packet waits as a notice in another bank, or is not even checked there."""
    seen = device.seen
    first = next(
        place for place in range(len(seen) - 3)
        if [seen[place + 1], seen[place + 3]] == [
            (CollectorEvent.NOTICE, seen[place][0]), (CollectorEvent.NOTICE, seen[place + 2][0])
        ]
        and seen[place][0] != seen[place + 2][0]
        and len({_PARAMS.sm_of_block(seen[n][1].packet.block) for n in (place, place + 2)}) == 1
    )  # fmt: skip
    moved = [seen[first + place] for place in order]
    with pytest.raises(Mismatch, match=r"notice of packet \d+ of SM \d must be taken after"):
        tell(_board(program), [*seen[:first], *moved])


def test_clocks_begin_anew_when_one_is_full_and_not_before(program, device):
    epoch = next(n for n, (kind, _) in enumerate(device.seen) if kind is CollectorEvent.EPOCH)
    with pytest.raises(Mismatch, match="restart only when one has reached 13"):
        tell(_board(program), [*device.seen[: epoch // 2], (CollectorEvent.EPOCH, 0)])


@pytest.mark.parametrize("seed", [1, 2])
def test_clocks_restart_when_the_collector_has_taken_all_notices(seed):
    program = _random("mixed", seed)
    seen = _played(program).seen
    differences = []
    for epoch in (n for n, (kind, _) in enumerate(seen) if kind is CollectorEvent.EPOCH):
        last = max((n for n in range(epoch) if seen[n][0] is CollectorEvent.NOTICE), default=0)
        if last:
            differences.append(_difference(program, [*seen[:last], *seen[last + 1 : epoch + 1]]))
    assert [each for each in differences if "has not taken: 1" in each], differences


@pytest.mark.parametrize("kind", [CollectorEvent.NOTICE, CollectorEvent.MARKER])
def test_sources_exist(program, kind):
    with pytest.raises(Mismatch):
        tell(_board(program), [(kind, 7)])


def test_a_step_is_of_an_sm(program, device):
    place = next(
        n for n, (kind, _) in enumerate(device.seen) if not isinstance(kind, CollectorEvent)
    )
    bank, step = device.seen[place]
    stray = step._replace(packet=step.packet._replace(block=_PARAMS.block_id(3, 0)))
    with pytest.raises(Mismatch, match="must be of an SM of the GPU"):
        tell(_board(program), [*device.seen[:place], (bank, stray)])


def test_read_errors_are_taken_and_counted(program):
    device = _played(program, read_errors={2, 25})
    board = _board(program)
    tell(board, device.seen)
    for record in device.records:
        board.report(record.record())
    with pytest.raises(Mismatch, match="must number 0, not 2"):
        board.finish(read_errors=0)
    board.finish(device.totals(), device.entry, 2)


@pytest.fixture
def told(program, device):
    board = _board(program)
    tell(board, device.seen)
    return board


@pytest.mark.parametrize("name", [*COUNTERS, "reports_dropped", "reports_written"])
def test_counters_are_compared(told, device, name):
    with pytest.raises(Mismatch):
        _end(told, device, **{name: device.totals()[name] + 1})


@pytest.mark.parametrize("field", RaceReport.__slots__)
def test_every_field_of_a_report_is_compared(told, device, field):
    records = list(device.records)
    records[5] = replace(records[5], **{field: getattr(records[5], field) ^ 1})
    with pytest.raises(Mismatch):
        _end(told, device, records)


def test_reports_are_in_the_order_of_the_collector(told, device):
    records = list(device.records)
    first, second = records[3:5]
    assert replace(first, sequence=0) != replace(second, sequence=0)
    records[3:5] = (
        replace(second, sequence=first.sequence), replace(first, sequence=second.sequence)
    )  # fmt: skip
    with pytest.raises(Mismatch):
        _end(told, device, records)


def test_reserved_bits_of_a_report_are_0(told, device):
    first, *others = device.records
    offset = _PARAMS.report_layout.offset("reserved_end")
    with pytest.raises(Mismatch, match="reserved fields must be 0"):
        _end(told, device, [first.record() | 1 << offset, *others])


def test_memory_is_compared(told, device):
    last = _REGION.entries(_PARAMS) - 1
    written = max(device.banks[0].entries)
    for wrong in (written, last):
        with pytest.raises(Mismatch, match=f"^Metadata entry {wrong} must be"):
            told.finish(memory=lambda index, at=wrong: device.entry(index) ^ (index == at))
