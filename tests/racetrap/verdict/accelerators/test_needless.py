"""Places of cache operations and waits: needless ones of the programs, beside the exact machine."""

import pytest

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.noncoherent.oracle import OracleLimitError
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    NoncoherentTraceHeader,
    Operation,
)
from racetrap.golden_model.trace.noncoherent.operations import OperationKind as K
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.accelerator.programs.traces import record_program
from racetrap.verdict.accelerators import needless

_TRACE = NoncoherentTrace.from_events(
    NoncoherentTraceHeader(),
    [
        Operation(K.CACHED_WRITE, 0, 32, pc=4),
        Operation(K.CACHE_CLEAN, 0, 32, pc=8),
        Operation(K.CLEAN_ALL, pc=8),
        Operation(K.DMA_READ, 0, 32, pc=12),
        Operation(K.SYNC),
    ],
)
#: Places of the programs, and how many are needless.
_PLACES = {
    "libfixmath": (4, 0), "mtx_fir": (2, 0), "mtx_median_argb32": (2, 0), "mtx_median": (3, 0),
    "mtx_motest": (1, 0), "mtx_sobel": (2, 0), "mtx_xp": (3, 1), "vec_add": (1, 0),
    "vec_fft": (2, 0), "vec_fir": (1, 0), "vec_power": (1, 0), "adc_ring": (3, 1),
    "camera": (4, 1), "crypto": (4, 1), "eth_descriptors": (3, 1), "scatter_gather": (6, 1),
    "sd_read": (3, 1),
}  # fmt: skip


def test_operations_of_a_place_are_left_out_together():
    """Each clean alone would do; an operation without a place is not tried."""
    (place,) = needless.without_each(_TRACE, Noncoherent(MemorySystem()), asks_machine=True)
    assert (place.pc, place.kinds, place.operations) == (8, (K.CACHE_CLEAN, K.CLEAN_ALL), 2)
    assert (place.harm, place.is_racy, place.is_needless) == ("races of rule 5b", True, False)


def test_a_run_too_long_for_the_machine(monkeypatch):
    def refuse(*_):
        raise OracleLimitError("too long")

    monkeypatch.setattr(needless, "racy_bytes", refuse)
    (place,) = needless.without_each(_TRACE, Noncoherent(MemorySystem()), asks_machine=True)
    assert place.is_racy is None
    assert not place.is_needless


@pytest.mark.campaign
@pytest.mark.parametrize("name", ACCELERATOR_PROGRAMS)
def test_programs(name):
    program = ACCELERATOR_PROGRAMS[name]
    trace = record_program(program, program.least)
    places = needless.without_each(trace, Noncoherent(program.memory), asks_machine=True)
    assert [place.is_racy for place in places] == [bool(place.harm) for place in places]
    assert (len(places), sum(place.is_needless for place in places)) == _PLACES[name]
