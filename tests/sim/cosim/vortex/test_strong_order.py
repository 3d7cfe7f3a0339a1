"""Order of strong accesses: memory keeps that of their transactions, and the comparison finds it
where it does not."""

from contextlib import closing

import pytest

from racetrap.evaluation.vortex.programs import Program, ProgramRun
from racetrap.generators.presets import find_preset
from racetrap.golden_model.causality.packets import Transaction, TransactionKind
from racetrap.golden_model.events import AtomicOp
from racetrap.golden_model.gpu.issue import Instruction, IssueKind
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.packing import pack_tuples
from racetrap.sim.cosim.vortex.harness import build_beside
from racetrap.sim.cosim.vortex.observed import Observed, compare_detector, observe
from racetrap.sim.cosim.vortex.simulation import VortexRun, Watched, params_beside
from racetrap.sim.cosim.vortex.strong_order import check_order
from tests.support.vortex.needs import needs_vortex

_PRESET = "causality-nocache"
_PARAMS = params_beside(find_preset(_PRESET).params, 4)
_FLAG, _OTHER, _POLL, _SET = 0x9000_0040, 0x9000_0044, 0x8000_0100, 0x8000_0200


class _Run:
    """Cores that each make one access, as memory and detector have seen them."""

    params = _PARAMS

    def __init__(self, *accesses):
        self._accesses = accesses

    def transactions(self, core):
        pc, address, *_ = self._accesses[core]
        access = Transaction(
            TransactionKind.ATOMIC, pc=pc, strong=1, bytes=15, word=address // 4, lanes=1
        )
        return pack_tuples(_PARAMS.transaction_layout, [access])

    def accepted(self, core):
        return [self._accesses[core][2]]

    def performed(self, core):
        cycles = self._accesses[core][3:]
        return Watched([7] * len(cycles), list(cycles))

    def observed(self, op=AtomicOp.EXCH):
        return [
            [Observed(0, Instruction(
                IssueKind.ATOMIC, pc=pc, op=op, strong=1, size=2, lanes=1, addresses=(address,)
            ), 7)]
            for pc, address, *_ in self._accesses
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("poll", "flag", "is_kept"),
    [
        ((10, 50), (20, 60), True),
        ((10, 50), (20, 50), True),
        # In one cycle they are in no order.
        ((20, 60), (20, 50), True),
        ((10, 60), (20, 50), False),
        ((20, 50), (10, 60), False),
    ],
)
def test_the_order_of_a_word_is_compared(poll, flag, is_kept):
    run = _Run((_POLL, _FLAG, *poll), (_SET, _FLAG, *flag))
    if is_kept:
        assert check_order(run, run.observed()) == 2
    else:
        with pytest.raises(Mismatch, match=f"{_FLAG:#x}.*{_POLL:#x}"):
            check_order(run, run.observed())


def test_words_locks_and_instructions_of_several_requests_have_no_order():
    other = _Run((_POLL, _FLAG, 10, 60), (_SET, _OTHER, 20, 50))
    assert check_order(other, other.observed()) == 2
    same = _Run((_POLL, _FLAG, 10, 60), (_SET, _FLAG, 20, 50))
    assert check_order(same, same.observed(op=AtomicOp.CAS)) == 0
    several = _Run((_POLL, _FLAG, 10, 30, 60), (_SET, _FLAG, 20, 50))
    assert check_order(several, several.observed()) == 1


@pytest.mark.parametrize("is_kept", [
    pytest.param(is_kept, marks=needs_vortex, id="kept" if is_kept else "planted")
    for is_kept in (True, False)
])  # fmt: skip
def test_memory_keeps_the_order_of_transactions(is_kept, monkeypatch):
    rule_110 = ProgramRun(Program("R110"), _PRESET, 1)
    model, image = build_beside(_PRESET, _PARAMS), rule_110.program.compile()
    with monkeypatch.context() as patch:
        patch.setattr(type(_PARAMS), "orders_accesses", property(lambda params: is_kept))
        run = VortexRun(model, image, rule_110.machine, rule_110.seed)
    with closing(run):
        observed = [observe(run, core) for core in range(_PARAMS.sm_count)]
        if is_kept:
            assert check_order(run, observed) > 400
        else:
            with pytest.raises(Mismatch, match="accepted in cycle"):
                check_order(run, observed)
        # A poll that is accepted before the exchange that it then sees is reported.
        assert (len(compare_detector(run).reports) == 0) == is_kept
        assert (run.waits["order"] > 0) == is_kept
