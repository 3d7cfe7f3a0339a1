"""The scoreboard's rules, with the golden model in the hardware's place: each check must fail."""

from collections import Counter
from dataclasses import replace

import pytest

from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.hirace.detector_bank import DetectorBank
from racetrap.golden_model.hirace.packets import Step, Transaction, TransactionKind
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.golden_model.hirace.tracker import Tracker
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.hirace.scoreboard import Scoreboard

_PARAMS = HiraceParams(sm_count=3, blocks_per_sm=2, warps_per_sm=2, banks=2, shared_bytes=64)
_REGION = Region(size_log2=12)


class _Hardware:
    """Trackers and banks that play transactions in the given order."""

    def __init__(self):
        self.trackers = [Tracker(_PARAMS, sm) for sm in range(_PARAMS.sm_count)]
        self.banks = [DetectorBank(_PARAMS, _REGION) for _ in range(_PARAMS.banks)]
        self.steps = [[] for _ in self.banks]
        self.records = []

    def play(self, sm, transaction):
        for packet in self.trackers[sm].step(transaction):
            bank = bank_of(_PARAMS, packet.word)
            step = self.banks[bank].step(packet)
            self.steps[bank].append(step)
            if step.race:
                self.records.append(RaceReport.from_step(_PARAMS, step, bank, len(self.records)))

    def counters(self, **changes):
        counters = Counter()
        for bank in self.banks:
            counters.update(bank.counters)
        written = {"reports_written": len(self.records), "reports_dropped": 0}
        return dict(counters) | written | {"reports_suppressed": 0} | changes

    def entry(self, index):
        return self.banks[0].entries.get(index, self.banks[1].entries.get(index, 0))


def _store(sm, lane=0):
    return sm, Transaction(TransactionKind.STORE, lane=lane, pc=16 * sm, more=3)


_PROGRAM = [
    _store(0),
    (0, Transaction(TransactionKind.BARRIER)),
    _store(1),
    _store(2),
    _store(2, 1),
]


@pytest.fixture
def hardware():
    device = _Hardware()
    for sm, transaction in _PROGRAM:
        device.play(sm, transaction)
    assert len(device.records) == 12
    return device


@pytest.fixture
def board():
    scoreboard = Scoreboard(_PARAMS, _REGION)
    for sm, transaction in _PROGRAM:
        scoreboard.transaction(sm, transaction)
    return scoreboard


def _see(board, steps):
    for bank, of_bank in enumerate(steps):
        for step in of_bank:
            board.step(bank, step)


def _see_all(board, steps):
    _see(board, steps)
    board.finish()


def _report(board, records):
    for record in records:
        board.report(record if isinstance(record, int) else record.record())


def test_agreement(board, hardware):
    assert board.due == [8, 8]
    _see(board, hardware.steps)
    _report(board, hardware.records)
    board.finish(hardware.counters(), memory=hardware.entry, read_errors=0)
    assert board.due == [0, 0]


def test_steps_may_come_before_their_transactions(hardware):
    board = Scoreboard(_PARAMS, _REGION)
    _see(board, hardware.steps)
    for sm, transaction in _PROGRAM:
        board.transaction(sm, transaction)
    board.finish(memory=hardware.entry)


@pytest.mark.parametrize("field", [name for name in Step._fields if name != "packet"])
def test_every_field_of_a_step_is_compared(board, hardware, field):
    step = hardware.steps[0][3]
    value = getattr(step, field)
    hardware.steps[0][3] = step._replace(**{field: value ^ 1})
    # The hardware's word is taken for a read error: what follows from it then differs.
    what = "before" if field == "read_error" else field
    with pytest.raises(Mismatch, match=rf"^Bank 0, step 3: step differs: .*{what} must be"):
        _see(board, hardware.steps)


@pytest.mark.parametrize("field", Transaction._fields)
def test_every_field_of_a_transaction_counts(hardware, field):
    board = Scoreboard(_PARAMS, _REGION)
    for number, (sm, transaction) in enumerate(_PROGRAM):
        value = getattr(transaction, field)
        changed = transaction._replace(**{field: value ^ 1}) if number == 2 else transaction
        board.transaction(sm, changed)
    with pytest.raises(Mismatch):
        _see_all(board, hardware.steps)


def test_missing_and_surplus_steps_are_seen(board, hardware):
    _see(board, [hardware.steps[0], hardware.steps[1][:-1]])
    with pytest.raises(Mismatch, match="Bank 1, SM 2: 1 packets missing"):
        board.finish()
    board.step(1, hardware.steps[1][-1])
    board.finish()
    with pytest.raises(Mismatch):
        _see_all(board, [[], hardware.steps[1][-1:]])


def test_step_of_no_sm_is_seen(board, hardware):
    step = hardware.steps[0][0]
    stray = step._replace(packet=step.packet._replace(block=_PARAMS.block_id(3, 0)))
    with pytest.raises(Mismatch, match="must be of an SM of the GPU"):
        board.step(0, stray)


def test_packets_of_an_sm_keep_their_order(board, hardware):
    first, second, *others = hardware.steps[0]
    with pytest.raises(Mismatch, match="packet differs"):
        _see(board, [[second, first, *others], hardware.steps[1]])


def test_read_error_of_the_hardware_is_taken_and_counted(hardware):
    device = _Hardware()
    packets = device.trackers[0].step(_PROGRAM[0][1])
    steps = [[], []]
    for number, packet in enumerate(packets):
        bank = bank_of(_PARAMS, packet.word)
        steps[bank].append(device.banks[bank].step(packet, read_error=number == 0))
    for errors, agrees in ((1, True), (0, False)):
        board = Scoreboard(_PARAMS, _REGION)
        board.transaction(*_PROGRAM[0])
        _see(board, steps)
        if agrees:
            board.finish(read_errors=errors)
        else:
            with pytest.raises(Mismatch, match="must number 0, not 1"):
                board.finish(read_errors=errors)


@pytest.mark.parametrize(
    "changes", [{"accesses": 15}, {"unmonitored": 1}, {"races_write_after_write": 11},
                {"reports_dropped": 1}, {"reports_written": 11}],
)  # fmt: skip
def test_counters_are_compared(board, hardware, changes):
    _see(board, hardware.steps)
    _report(board, hardware.records)
    with pytest.raises(Mismatch):
        board.finish(hardware.counters(**changes))


@pytest.mark.parametrize("field", RaceReport.__slots__)
def test_every_field_of_a_report_is_compared(board, hardware, field):
    _see(board, hardware.steps)
    records = list(hardware.records)
    records[5] = replace(records[5], **{field: getattr(records[5], field) ^ 1})
    _report(board, records)
    with pytest.raises(Mismatch):
        board.finish(hardware.counters())


def test_reserved_bits_of_a_report_are_0(board, hardware):
    _see(board, hardware.steps)
    offset = _PARAMS.report_layout.offset("reserved_end")
    first, *others = hardware.records
    _report(board, [first.record() | 1 << offset, *others])
    with pytest.raises(Mismatch, match="reserved fields must be 0"):
        board.finish(hardware.counters())


def test_memory_is_compared(board, hardware):
    _see(board, hardware.steps)
    last = _REGION.entries(_PARAMS) - 1
    for wrong in (0, last):
        with pytest.raises(Mismatch, match=f"^Metadata entry {wrong} must be"):
            board.finish(memory=lambda index, at=wrong: hardware.entry(index) ^ (index == at))
    board.finish(memory=lambda index: hardware.entry(index) ^ (index == last), reached=[])
