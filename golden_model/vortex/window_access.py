"""Window access: what a load or store is through the window that some of its lanes use.

Vortex has no atomics here and no loads that go past a cache: the same memory is seen through
several windows, selected by an address's upper four bits, and what an access is depends on its
window.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from enum import IntEnum

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.gpu.issue import Instruction, IssueKind
from racetrap.golden_model.vortex.issue_decoder import Action, Issued

#: Lowest of the address bits that select a window.
WINDOW_SHIFT = 28
#: Bit of a window's number that tells the scope of its atomics.
DEVICE_WINDOW = 8


class Window(IntEnum):
    """Ways to the same memory; with ``DEVICE_WINDOW`` the atomics are of device scope.

    WEAK is cached; the other ways go past the L1.  A load from COUNT returns the value and adds 1,
    a store adds what it stores; a load from LOCK returns the value and sets 1; a store to VALUE or
    LOCK is an exchange.
    """

    WEAK = 1
    STRONG = 2
    VALUE = 3
    COUNT = 4
    LOCK = 5


#: Upper address bits of the memory itself, which are those of its cached window.
MEMORY = DEVICE_WINDOW | Window.WEAK
#: Windows whose accesses reach the detector; those of the stack do not.
MONITORED = (
    MEMORY, DEVICE_WINDOW | Window.STRONG,
    *(scope | kind for kind in (Window.VALUE, Window.COUNT, Window.LOCK)
      for scope in (0, DEVICE_WINDOW)),
)  # fmt: skip


def window_instruction(issued: Issued, window: int, lanes: list[int]) -> Instruction:
    """Accesses of lanes through one window."""
    kind, is_store = window & ~DEVICE_WINDOW, issued.action == Action.STORE
    access = Instruction(
        IssueKind.STORE if is_store else IssueKind.LOAD, issued.slot, issued.warp, issued.pc,
        size=issued.size, lanes=sum(1 << lane for lane in lanes),
        addresses=tuple(memory_address(issued.addresses[lane]) for lane in lanes),
    )  # fmt: skip
    values = {lane: issued.values[lane] & (1 << (8 << issued.size)) - 1 for lane in lanes}
    if kind in (Window.WEAK, Window.STRONG):
        is_strong = kind == Window.STRONG
        scope = Scope.DEVICE if is_strong else Scope.BLOCK
        marks = _unequal(issued, values) if is_store else 0
        return access._replace(strong=int(is_strong), scope=scope, marks=marks)
    op, marks = AtomicOp.OTHER, 0
    if is_store and kind != Window.COUNT:
        op, marks = AtomicOp.EXCH, sum(1 << lane for lane in lanes if not values[lane])
    elif kind == Window.LOCK:
        op, marks = AtomicOp.CAS, access.lanes
    scope = Scope.DEVICE if window & DEVICE_WINDOW else Scope.BLOCK
    return access._replace(kind=IssueKind.ATOMIC, strong=1, scope=scope, op=op, marks=marks)


def memory_address(address: int) -> int:
    """Where in the memory an address through any window is."""
    return address & (1 << WINDOW_SHIFT) - 1 | MEMORY << WINDOW_SHIFT


def _unequal(issued: Issued, values: dict[int, int]) -> int:
    """Lanes that store another value than the lowest with the same address does."""
    marks = 0
    for lane, value in values.items():
        first = next(each for each in values if issued.addresses[each] == issued.addresses[lane])
        marks |= (value != values[first]) << lane
    return marks
