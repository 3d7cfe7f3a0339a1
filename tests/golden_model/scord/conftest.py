"""A GPU whose warps do one thing after another, for tests that read like a list of steps."""

from collections.abc import Callable

import pytest

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Lane, Scope
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.packets import RaceKind, Step
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord

BLOCK, DEVICE = Scope.BLOCK, Scope.DEVICE


class Gpu:
    """Blocks of eight warps, all on one SM or each on its own; every call is one event."""

    def __init__(self, place: Callable[[int], tuple[int, int]], params: ScordParams):
        self._place = place
        self.scord = Scord(params, Region(size_log2=14))

    @property
    def races(self) -> list[str]:
        return [RaceKind(race.race).name for race in self.scord.races]

    def _run(self, kind: EventKind, block: int, warp: int, **fields) -> list[Step]:
        sm, slot = self._place(block)
        return self.scord.run(Event(kind, sm, slot, slot * 8 + warp, **fields))

    def load(self, block, warp=0, word=0, strong=True):
        lanes = (Lane(0, 4 * word),)
        return self._run(EventKind.LOAD, block, warp, strong=strong, size=4, lanes=lanes)

    def store(self, block, warp=0, word=0, strong=True):
        lanes = (Lane(0, 4 * word),)
        return self._run(EventKind.STORE, block, warp, strong=strong, size=4, lanes=lanes)

    def _atomic(self, block, warp, scope, op, lane):
        return self._run(
            EventKind.ATOMIC, block, warp, scope=scope, strong=True, op=op, size=4, lanes=(lane,)
        )

    def atomic(self, block, scope, warp=0, word=0):
        return self._atomic(block, warp, scope, AtomicOp.OTHER, Lane(0, 4 * word))

    def fence(self, block, scope, warp=0):
        return self._run(EventKind.FENCE, block, warp, scope=scope)

    def barrier(self, block):
        return self._run(EventKind.BARRIER, block, 0)

    def start(self, block):
        """A new block takes the place of this one, with all its warps."""
        sm, slot = self._place(block)
        return self.scord.run(Event(EventKind.BLOCK_PLACED, sm, slot, slot * 8, warp_count=8))

    def launch(self):
        return self.scord.run(Event(EventKind.KERNEL_BEGIN))

    def lock(self, block, scope, warp=0, word=100, fence=None):
        self._atomic(block, warp, scope, AtomicOp.CAS, Lane(0, 4 * word, 1, 0, True))
        self.fence(block, scope if fence is None else fence, warp)

    def unlock(self, block, scope, warp=0, word=100):
        self.fence(block, scope, warp)
        self._atomic(block, warp, scope, AtomicOp.EXCH, Lane(0, 4 * word))


@pytest.fixture(params=["same SM", "other SMs"])
def make_gpu(request):
    """Makes a GPU; its blocks share an SM, or each has its own."""
    places = {
        "same SM": lambda block: (3, block),
        "other SMs": lambda block: (4 * block, block),
    }
    return lambda **settings: Gpu(places[request.param], ScordParams(**{"ratio": 1} | settings))


@pytest.fixture
def gpu(make_gpu):
    """A GPU without metadata caching."""
    return make_gpu()
