"""Memory objects of a device: what its traces say of variables and allocations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from racetrap.golden_model.call_stacks import own_place
from racetrap.golden_model.events import Space
from racetrap.golden_model.memory_objects import MemoryObject
from racetrap.sim.gpu.executor.machine.launch import Launch
from racetrap.sim.gpu.executor.machine.program import SharedObject
from racetrap.sim.gpu.ptx.module import parameter_layout

#: A program that allocates again and again has the latest of its allocations in its trace.
_MOST = 4096
_MALLOC = "allocated by the malloc"


class MemoryObjects:
    """Variables and allocations in the order in which they were made."""

    def __init__(self) -> None:
        self._found: list[tuple[MemoryObject, tuple[int, ...]]] = []
        self._launch = 0
        self._shared: tuple[tuple[SharedObject, ...], int] = (), 0
        #: Allocations without a name, by address.
        self._nameless: dict[int, int] = {}

    def add(
        self, space: Space, address: int, size: int, element: int, name: str, origin: str,
        calls: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """Take note of an object, which a call may have allocated."""
        made = MemoryObject(
            int(space), address, size, min(element, size), self._launch, name, origin, ""
        )
        if not name:
            self._nameless[address] = len(self._found)
        self._found.append((made, tuple(calls)))

    def begin(self, launch: Launch) -> None:
        """A traced launch begins: its parameters give names to what they point to."""
        self._name(launch)
        shared, size = launch.program.shared_objects, launch.shared_size
        if shared and (shared, size) != self._shared:
            self._shared = shared, size
            for each in shared:
                bytes_there = each.size or size - each.offset
                if bytes_there > 0:
                    self.add(
                        Space.SHARED, each.offset, bytes_there, each.element, each.name,
                        "a `__shared__` variable",
                    )  # fmt: skip
        self._launch += 1

    def _name(self, launch: Launch) -> None:
        if not self._nameless:
            return
        formals = launch.program.parameters
        for formal, offset in zip(formals, parameter_layout(formals)[0], strict=True):
            value = launch.parameters.raw[offset : offset + formal.size].tobytes()
            number = self._nameless.pop(int.from_bytes(value, "little"), None)
            if number is not None:
                made, calls = self._found[number]
                self._found[number] = made._replace(name=formal.name), calls

    def end(self, launch: Launch) -> None:
        """A launch ends: what its threads have allocated is there from it on."""
        for address, size, pc in launch.made:
            made = MemoryObject(
                int(Space.GLOBAL), address, size, 1, max(self._launch - 1, 0), "", _MALLOC, ""
            )
            self._found.append((made, (pc,)))

    def named(self, calls: Mapping[int, str]) -> dict[int, MemoryObject]:
        """Objects by number, given the place of each call: that of the program's own code."""
        found = {}
        for number, (each, pcs) in enumerate(self._found[-_MOST:]):
            places = [calls[pc] for pc in pcs if pc in calls]
            found[number] = each._replace(place=own_place(places)[1]) if places else each
        return found
