"""CUDA programs with host code: their own check, and the verdict on both forms.

``make programs`` runs all of them; here are those that need most of the runtime library, in
``make test`` the quickest of these.
"""

import pytest

from racetrap.sim.gpu.workloads.registry import WORKLOADS
from tests.cuda_verdicts import PROGRAMS, ProgramVerdict, check_program
from tests.support.campaign import later_but
from tests.support.gpu.cuda_programs import needs_compiler


@needs_compiler
@pytest.mark.parametrize("racy", [False, True], ids=["race_free", "racy"])
@pytest.mark.parametrize(
    "name",
    later_but(
        "producer_consumer".__eq__, ["jacobi", "producer_consumer", "scor_convolution_1d"]
    ),
)  # fmt: skip
def test_verdict(name, racy):
    found = check_program(name, racy)
    assert found.is_right, found
    assert found.launches
    assert found.events


def test_every_application_of_scor_is_a_program():
    assert sum(name.startswith("scor_") for name in PROGRAMS) == len(WORKLOADS) == 7
    assert len(PROGRAMS) >= 17


@pytest.mark.parametrize(
    ("name", "racy", "pairs", "status", "problems", "right"),
    [
        ("any", False, 0, 0, (), True),
        ("any", False, 1, 0, (), False),
        ("any", False, 0, 1, (), False),
        ("any", True, 1, 1, (), True),
        ("any", True, 0, 0, (), False),
        ("any", True, 1, 0, ("x is not supported",), False),
        ("scor_reduction", False, 1, 0, (), True),
        ("scor_reduction", False, 0, 0, (), False),
    ],
)
def test_what_is_right(name, racy, pairs, status, problems, right):
    verdict = ProgramVerdict(name, racy, pairs, status, 1, 1, 0.0, problems)
    assert verdict.is_right == right
