"""The bins of HiRace's functional coverage, and the reasons why some cannot be hit."""

from __future__ import annotations

from itertools import product

from racetrap.golden_model.hirace.packets import RaceKind, TransactionKind
from racetrap.golden_model.hirace.states import Access, Relation, State, Sync
from racetrap.sim.cosim.gpu.testbench_bins import NEVER_STALLED, TESTBENCH_BINS

_SPACES = ("global", "shared")
_COUNTS = ("barriers", "warp_barriers", "generations")
_NO_WINDOW = "Shared memory is not watched."


def transition_bin(state: State, access: Access, sync: Sync, relation: Relation) -> str:
    """Bin of a transition; for the first access to a word, relation and barrier are ignored."""
    names = (state, access) if state is State.INIT else (state, access, sync, relation)
    return "transition." + ".".join(name.name.lower() for name in names)


_KEYS = tuple(product(State, Access, Sync, Relation))


def _bins() -> list[str]:
    names = [f"transaction.{kind.name.lower()}" for kind in TransactionKind]
    names += [f"words.{count}" for count in (1, 2, 4)]
    names += [f"{space}.{what}" for space in _SPACES for what in ("monitored", "outside")]
    names += [f"wraps.{count}" for count in _COUNTS]
    names += [f"race.{kind.name.lower()}" for kind in RaceKind if kind]
    names += [f"report.{kind.name.lower()}" for kind in RaceKind if kind]
    names += ["read_error", "report.shared", "report.global", *TESTBENCH_BINS]
    names += [transition_bin(*key) for key in _KEYS if key[0] is not State.RACE]
    return names


#: Names of all bins, in the order of reports.
BINS = dict.fromkeys(_bins())
#: Bins of an instance in which a word stays in RACE.
OPTIONAL_BINS: dict[str, None] = dict.fromkeys(
    transition_bin(*key) for key in _KEYS if key[0] is State.RACE
)
#: Bins that no stimulus can hit, with the reason.
UNREACHABLE = NEVER_STALLED


def without_window() -> dict[str, str]:
    """Bins that cannot be hit without a window for shared memory, with the reason."""
    names = ("shared.monitored", "shared.outside", "report.shared")
    return dict.fromkeys(names, _NO_WINDOW)
