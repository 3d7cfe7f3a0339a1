"""Random Summary messages as flits, valid ones and some that no core unit sends.

Ref: SigRace (ISCA'09) Sections 3.1 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.compressor import encode
from racetrap.golden_model.sigrace.environment import Slot
from racetrap.golden_model.sigrace.packets import Cause
from racetrap.golden_model.sigrace.params import FLIT_BITS, Form, SigraceParams

#: Causes from here on mark messages that name another core than that of their link.
_FOREIGN_CAUSE = max(Cause) + 1
_PLACES = 6
_FAULTS = (
    "cut", "longer", "spoiled", "form", "gap", "foreign", "context", "thread", "no thread",
)  # fmt: skip


def link_of(core: int, cause: int) -> int:
    """Link of a message, from its header, which must be intact."""
    return core if cause < _FOREIGN_CAUSE else cause - _FOREIGN_CAUSE


class RandomMessages:
    """Source of messages for all links.

    A faulty message is sent only over a link that its header identifies (:func:`link_of`), so that
    the order in which hardware took the messages is observable.

    Parameters
    ----------
    params : SigraceParams
        The machine; at most three cores.
    rng : Random
        Source of randomness.
    """

    def __init__(self, params: SigraceParams, rng: Random):
        self._params, self._rng = params, rng
        self._sequences: dict[Slot, int] = {}
        self._clock = [0] * params.threads
        self._usb = [rng.getrandbits(params.usb_bits) for _ in range(_PLACES)]

    def message(self, link: int, threads: Mapping[Slot, int], faults: float) -> tuple[int, ...]:
        """Flits of a message of a context of core ``link``, possibly with a fault.

        Parameters
        ----------
        link : int
            Core.
        threads : mapping of (int, int) to int
            CoreToThread.
        faults : float
            Probability of a fault.
        """
        params, rng = self._params, self._rng
        place = link, rng.randrange(params.contexts)
        thread = threads.get(place, rng.randrange(params.threads))
        fault = rng.choice(_FAULTS) if rng.random() < faults else ""
        fields = {"core": link, "context": place[1], "thread": thread}
        if fault == "foreign":
            fields |= {"core": rng.choice([link ^ 1, params.cores, 255])}
            fields["cause"] = _FOREIGN_CAUSE + link
        elif fault == "context":
            fields["context"] = rng.randint(params.contexts, 15)
        elif fault == "thread":
            fields["thread"] = (thread + 1) % params.threads
        elif fault == "no thread":
            fields["thread"] = rng.randint(params.threads, 255)
        elif fault == "gap":
            self._advance(place, rng.randint(1, 5))
        flits = list(encode(params, self._block(place, fields, thread)))
        if fault in ("", "gap"):
            self._advance(place, 1)
        return tuple(self._spoil(flits, fault))

    def restart(self) -> None:
        """After a reset: all sequence numbers begin at 0."""
        self._sequences.clear()

    def _advance(self, place: Slot, count: int) -> None:
        most = 1 << self._params.sequence_bits
        self._sequences[place] = (self._sequences.get(place, 0) + count) % most

    def _block(self, place: Slot, fields: dict[str, int], thread: int) -> FinishedBlock:
        """A block whose thread has sometimes merged the others' clocks."""
        params, rng = self._params, self._rng
        most = params.max_counter
        cause = rng.choice([Cause.LIMIT, Cause.SYNC, Cause.SWITCH, Cause.FULL])
        if cause == Cause.SYNC:
            self._clock[thread] = min(self._clock[thread] + 1, most)
        times = [max(0, clock - rng.choice((0, 0, 1, 3))) for clock in self._clock]
        times[thread] = self._clock[thread]
        return FinishedBlock(**{
            "cause": int(cause), "sequence": self._sequences.get(place, 0),
            "timestamp": tuple(times), "read": self._set(), "write": self._set(), **fields,
        })  # type: ignore[arg-type]  # fmt: skip

    def _set(self) -> AddressSet | int:
        params, rng = self._params, self._rng
        chosen = AddressSet()
        for _ in range(rng.choice((0, 1, 2, 8))):
            usb = rng.choice(self._usb[: params.usb_limit])
            chosen.insert(params, usb << params.lsb_bits | rng.randrange(params.lsb_values) << 2)
        return chosen if params.form is Form.SETS else chosen.signature(params)

    def _spoil(self, flits: list[int], fault: str) -> list[int]:
        """Plant a fault in the message's form; the header still identifies its sender."""
        rng = self._rng
        if fault == "cut":
            return flits[: rng.randint(1, max(1, len(flits) - 1))]
        if fault == "longer":
            return [*flits, *(rng.getrandbits(FLIT_BITS) for _ in range(rng.randint(1, 4)))]
        if fault == "spoiled" and len(flits) > 1:
            first = rng.randrange(1, len(flits))
            return [*flits[:first], *(rng.getrandbits(FLIT_BITS) for _ in flits[first:])]
        if fault == "form":
            flits[0] ^= 1 << self._params.header_layout.offset("is_hashed")
        return flits
