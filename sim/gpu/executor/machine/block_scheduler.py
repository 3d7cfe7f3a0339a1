"""Block scheduler: SM, block slot and warp slots of each block.

Ref: ScoRD (ISCA'20) Section V (Table V).
"""

from __future__ import annotations

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.executor.machine.errors import ExecutionError

#: Shared memory of an SM, as much as Volta has; one block may take all of it.
SHARED_BYTES_PER_SM = 96 * 1024


class _Sm:
    """Free places of one SM."""

    def __init__(self, geometry: Geometry):
        self.slots = list(range(geometry.blocks_per_sm))
        self.free_warps = [True] * geometry.warps_per_sm
        self.shared = SHARED_BYTES_PER_SM
        self.blocks = 0

    def find_warps(self, count: int) -> int | None:
        """First of ``count`` free warp slots in a row."""
        run = 0
        for number, free in enumerate(self.free_warps):
            run = run + 1 if free else 0
            if run == count:
                return number - count + 1
        return None


class BlockScheduler:
    """Places blocks of one launch.

    Parameters
    ----------
    geometry : Geometry
        Size of the GPU.
    warps : int
        Warps of a block.
    shared : int
        Bytes of shared memory of a block.

    Raises
    ------
    ExecutionError
        If not even one block fits on an SM.
    """

    def __init__(self, geometry: Geometry, warps: int, shared: int):
        if warps > geometry.warps_per_sm:
            raise ExecutionError(
                f"Warps of a block must be at most {geometry.warps_per_sm}, as many as an SM "
                f"has slots, not {warps}"
            )
        if shared > SHARED_BYTES_PER_SM:
            raise ExecutionError(
                f"Shared memory of a block must be at most {SHARED_BYTES_PER_SM} bytes, "
                f"not {shared}"
            )
        self._warps, self._shared = warps, shared
        self._sms = [_Sm(geometry) for _ in range(geometry.sm_count)]

    @property
    def capacity(self) -> int:
        """Blocks that fit at once, while none is placed."""
        sm = self._sms[0]
        most = min(len(sm.slots), len(sm.free_warps) // self._warps)
        if self._shared:
            most = min(most, sm.shared // self._shared)
        return most * len(self._sms)

    def take(self, count: int) -> list[tuple[int, int, int]] | None:
        """SM, block slot and first warp slot for each of some blocks that are placed together;
        ``None`` if there is no room for all."""
        places: list[tuple[int, int, int]] = []
        while len(places) < count:
            place = self._take_one()
            if place is None:
                for each in places:
                    self.release(*each)
                return None
            places.append(place)
        return places

    def _take_one(self) -> tuple[int, int, int] | None:
        for number in sorted(range(len(self._sms)), key=lambda n: self._sms[n].blocks):
            sm = self._sms[number]
            first = sm.find_warps(self._warps)
            if sm.slots and first is not None and sm.shared >= self._shared:
                slot = sm.slots.pop(0)
                sm.free_warps[first : first + self._warps] = [False] * self._warps
                sm.shared -= self._shared
                sm.blocks += 1
                return number, slot, first
        return None

    def release(self, sm_number: int, slot: int, first_warp: int) -> None:
        """Free the place of a block that has ended."""
        sm = self._sms[sm_number]
        sm.slots = sorted([*sm.slots, slot])
        sm.free_warps[first_warp : first_warp + self._warps] = [True] * self._warps
        sm.shared += self._shared
        sm.blocks -= 1
