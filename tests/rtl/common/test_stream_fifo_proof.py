"""Proof: a stream FIFO gives what was put in, in order, and says rightly when it is empty."""

import pytest

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Case, Proof, proof_tests
from tests.support.formal.prover import holds_always
from tests.support.rtl.fifo_proof import FifoHarness

_FILE = "common/stream.py"
PROOF = Proof(
    rule="A FIFO outputs the payloads put in, each once and in order, within two cycles after "
    "the previous one has left. It reports that it is empty if and only if it holds none.",
    sizes="4 places; also 1, 2, 3 and 5",
    harness=lambda case: FifoHarness(4, case),
    depth=4,
    events=("full", "last-of-many", "watched-comes-out"),
    bugs={
        "empty-without-its-output": Patch(
            _FILE, "self.o_empty.eq(queue.level == 0)", "self.o_empty.eq(queue.level <= 1)"
        ),
        "taken-while-full": Patch(
            _FILE, "self.i.ready.eq(queue.w_rdy)", "self.i.ready.eq(1)"
        ),
        "given-twice": Patch(
            _FILE, "queue.r_en.eq(self.o.ready)", "queue.r_en.eq(self.o.ready & self.i.valid)"
        ),
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)


@pytest.mark.campaign
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_other_depths(depth):
    assert holds_always(FifoHarness(depth, Case()), depth=4)
