"""The scoreboard's rules, with the golden model in the hardware's place."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from racetrap.golden_model.events import Scope
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.detector_bank import DetectorBank
from racetrap.golden_model.scord.interleaver import banks_of
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.tracker import Tracker
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.scord.scoreboard import Scoreboard

_PARAMS = ScordParams(sm_count=3, blocks_per_sm=2, warps_per_sm=2, banks=2)
_REGION = Region(size_log2=12)


class _Hardware:
    """Trackers and banks that play transactions in the given order."""

    def __init__(self):
        self.trackers = [Tracker(_PARAMS, sm) for sm in range(_PARAMS.sm_count)]
        self.banks = [DetectorBank(_PARAMS, _REGION, bank) for bank in range(_PARAMS.banks)]
        self.steps = [[] for _ in self.banks]
        self.records = []

    def play(self, sm, transaction):
        for packet in self.trackers[sm].step(transaction):
            for bank in banks_of(_PARAMS, packet):
                step = self.banks[bank].step(packet)
                self.steps[bank].append(step)
                if step.race:
                    report = RaceReport.from_step(_PARAMS, step, bank, len(self.records))
                    self.records.append(report)

    def counters(self, dropped=0, suppressed=0):
        counters = Counter()
        for bank in self.banks:
            counters.update(bank.counters)
        written = len(self.records) - dropped - suppressed
        return dict(counters) | {
            "reports_written": written,
            "reports_dropped": dropped,
            "reports_suppressed": suppressed,
        }

    def entry(self, index):
        return self.banks[index % 2].entries.get(index, UNINITIALISED_ENTRY)


def _store(warp=0, mask=0xF, pc=0x10):
    return Transaction(TransactionKind.STORE, strong=1, warp=warp, mask=mask, pc=pc)


_FENCE = Transaction(TransactionKind.FENCE, scope=Scope.DEVICE)
#: Four races (one a word) of SM 1, then four of SM 2, at one PC; four at another.
_PROGRAM = [(0, _store()), (0, _FENCE), (1, _store()), (2, _store()), (2, _store(1, pc=0x20))]


@pytest.fixture
def hardware():
    device = _Hardware()
    for sm, transaction in _PROGRAM:
        device.play(sm, transaction)
    assert len(device.records) == 8
    return device


@pytest.fixture
def board():
    scoreboard = Scoreboard(_PARAMS, _REGION)
    for sm, transaction in _PROGRAM:
        scoreboard.transaction(sm, transaction)
    return scoreboard


def _see(board, hardware):
    for bank, steps in enumerate(hardware.steps):
        for step in steps:
            board.step(bank, step)


def _report(board, records):
    for record in records:
        board.report(record.record())


def test_agreement(board, hardware):
    assert board.due == [9, 9]
    _see(board, hardware)
    _report(board, hardware.records)
    board.finish(hardware.counters(), memory=hardware.entry, read_errors=0)
    assert board.steps_of == [9, 9]
    assert board.due == [0, 0]


def test_steps_may_come_before_their_transactions(hardware):
    board = Scoreboard(_PARAMS, _REGION)
    _see(board, hardware)
    for sm, transaction in _PROGRAM:
        board.transaction(sm, transaction)
    board.finish(memory=hardware.entry)


def test_wrong_transaction_after_its_steps(hardware):
    board = Scoreboard(_PARAMS, _REGION)
    _see(board, hardware)
    with pytest.raises(
        Mismatch, match="Bank 0, SM 0, packet 0: packet differs: pc must be 17, not 16"
    ):
        board.transaction(0, _store(pc=0x11))


def test_step_that_nobody_sent(board, hardware):
    _see(board, hardware)
    board.step(0, hardware.banks[0].step(hardware.steps[0][0].packet))
    with pytest.raises(Mismatch, match="Bank 0, SM 0: 1 packets too many"):
        board.finish()


def test_missing_steps(board):
    with pytest.raises(Mismatch, match="Bank 0, SM 0: 3 packets missing"):
        board.finish()


def test_fence_must_reach_every_bank():
    board, hardware = Scoreboard(_PARAMS, _REGION), _Hardware()
    board.transaction(0, _FENCE)
    hardware.play(0, _FENCE)
    board.step(0, hardware.steps[0][0])
    with pytest.raises(Mismatch, match="Bank 1, SM 0: 1 packets missing"):
        board.finish()


def test_order_within_an_sm(board, hardware):
    steps = hardware.steps[0]
    with pytest.raises(Mismatch, match="Bank 0, SM 0, packet 0: packet differs: word must be 0"):
        board.step(0, steps[1])


def test_a_fence_lets_other_warps_pass_only():
    device, board = _Hardware(), Scoreboard(_PARAMS, _REGION)
    program = [_store(mask=1), _FENCE, _store(1, mask=1), _store(mask=1)]
    for transaction in program:
        device.play(0, transaction)
        board.transaction(0, transaction)
    first, fence, other, own = (step.packet for step in device.steps[0])
    bank = DetectorBank(_PARAMS, _REGION, 0)
    for packet in (first, other, fence, own):
        board.step(0, bank.step(packet))


@pytest.mark.parametrize(
    ("program", "order", "sentence"),
    [
        ([_store(mask=1), _FENCE], [1, 0], "SM 0, fence 0: must come behind 1 packets, not 0"),
        ([_FENCE, _store(mask=1)], [1, 0], "SM 0, packet 0: must come behind 1 fences, not 0"),
        (
            [_FENCE, Transaction(TransactionKind.BARRIER), _store(1, mask=1)], [1, 0],
            "SM 0, packet 0: must come behind 1 fences, not 0",
        ),
    ],
    ids=["overtakes", "overtaken by its warp", "overtaken by its block"],
)  # fmt: skip
def test_a_fence_out_of_order(program, order, sentence):
    device, board = _Hardware(), Scoreboard(_PARAMS, _REGION)
    for transaction in program:
        device.play(0, transaction)
        board.transaction(0, transaction)
    steps = [device.steps[0][number] for number in order]
    with pytest.raises(Mismatch, match=sentence):
        _see(board, SimpleNamespace(steps=[steps]))


def test_packet_of_an_sm_that_does_not_exist(board, hardware):
    step = hardware.steps[0][0]
    with pytest.raises(Mismatch, match="packet must be of an SM of the GPU, not of block 6"):
        board.step(0, step._replace(packet=step.packet._replace(block=6)))


@pytest.mark.parametrize("field", ["row", "preliminary", "race", "tag_conflict", "before", "after"])
def test_every_field_of_a_step(board, hardware, field):
    step = hardware.steps[0][0]
    wrong = step._replace(**{field: getattr(step, field) ^ 1})
    with pytest.raises(Mismatch, match=f"Bank 0, step 0: step differs: {field} must be"):
        board.step(0, wrong)


def test_read_error_by_the_hardwares_word_and_by_ours(hardware):
    packet = hardware.steps[0][0].packet
    step = DetectorBank(_PARAMS, _REGION, 0).step(packet, read_error=True)
    trusting = Scoreboard(_PARAMS, _REGION)
    trusting.transaction(0, _store(mask=1))
    trusting.step(0, step)
    trusting.finish(read_errors=1)
    with pytest.raises(Mismatch, match="Steps with a read error must number 2, not 1"):
        trusting.finish(read_errors=2)
    with pytest.raises(Mismatch, match="read_error must be 0, not 1"):
        Scoreboard(_PARAMS, _REGION).step(0, step, read_error=False)


def test_metadata_left_behind(board, hardware):
    _see(board, hardware)
    with pytest.raises(Mismatch, match="Metadata entry 3 must be"):
        board.finish(memory=lambda index: hardware.entry(index) ^ (index == 3))


def test_counter(board, hardware):
    _see(board, hardware)
    _report(board, hardware.records)
    with pytest.raises(Mismatch, match="Counter fences must be 2, not 1"):
        board.finish(hardware.counters() | {"fences": 1})


def test_reports_may_be_dropped_if_counted(board, hardware):
    _see(board, hardware)
    _report(board, hardware.records[1:])
    board.finish(hardware.counters(dropped=1))


def test_reports_may_be_suppressed_if_one_like_them_is_there(board, hardware):
    _see(board, hardware)
    kept = [hardware.records[0], hardware.records[-1]]
    assert kept[0].key != kept[1].key
    _report(board, kept)
    board.finish(hardware.counters(suppressed=6))


def test_race_without_any_report(board, hardware):
    _see(board, hardware)
    _report(board, hardware.records[:2])
    with pytest.raises(Mismatch, match=r"Race \(pc, kind\) \(32, 1\) must have a report"):
        board.finish(hardware.counters(suppressed=6))


def _with(records, number, **changes):
    return [*records[:number], replace(records[number], **changes), *records[number + 1 :]]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda records: records[:-1], "Records in the ring must number 8, not 7"),
        (lambda records: _with(records, 2, sequence=0), "Report 2 sequence must exceed 1, not 0"),
        (lambda records: _with(records, 1, address=0x40), "Report 1 must be the next race of its"),
        (lambda records: _with(records, 1, bank=9), "Report 1 must be the next race of its bank"),
    ],
)
def test_reports(board, hardware, change, sentence):
    _see(board, hardware)
    _report(board, change(hardware.records))
    with pytest.raises(Mismatch, match=sentence):
        board.finish(hardware.counters())


def test_reserved_bits_of_a_report(board, hardware):
    _see(board, hardware)
    first, *others = hardware.records
    board.report(first.record() | 1 << 255)
    _report(board, others)
    with pytest.raises(Mismatch, match="Report 0 reserved fields must be 0"):
        board.finish(hardware.counters())


def test_uncounted_loss(board, hardware):
    _see(board, hardware)
    _report(board, hardware.records[1:])
    counters = hardware.counters() | {"reports_written": 7}
    with pytest.raises(Mismatch, match=r"must sum to 8 races, not 7 \+ 0 \+ 0"):
        board.finish(counters)
