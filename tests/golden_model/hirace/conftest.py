"""Small instance of HiRace, and runs of events on it."""

from collections.abc import Callable, Iterable

import pytest

from racetrap.golden_model.events import Event, EventKind, Lane, Scope, Space
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.packets import RaceKind
from racetrap.golden_model.hirace.params import HiraceParams

Place = tuple[int, int, int]


@pytest.fixture
def params() -> HiraceParams:
    return HiraceParams(
        sm_count=2, blocks_per_sm=2, warps_per_sm=4, generation_bits=2, barrier_bits=3,
        warp_barrier_bits=2, shared_bytes=64,
    )  # fmt: skip


@pytest.fixture
def access() -> Callable[..., Event]:
    """Event of an access: kind, place (SM, slot, warp), lanes with addresses."""

    def make(
        kind: EventKind, place: Place, lanes: Iterable[tuple[int, int]], *,
        scope: Scope = Scope.BLOCK, space: Space = Space.GLOBAL, size: int = 4, pc: int = 0x10,
    ) -> Event:  # fmt: skip
        sm, slot, warp = place
        return Event(
            kind, sm, slot, warp, scope, kind == EventKind.ATOMIC, pc=pc, size=size, space=space,
            lanes=tuple(Lane(lane, address) for lane, address in lanes),
        )  # fmt: skip

    return make


@pytest.fixture
def races(params) -> Callable[..., list[RaceKind]]:
    """Kinds of the races of some events, in order."""

    def run(events: Iterable[Event], of: HiraceParams = params) -> list[RaceKind]:
        hirace = Hirace(of, Region(0, 12))
        steps = [step for event in events for step in hirace.run(event)]
        return [RaceKind(step.race) for step in steps if step.race]

    return run
