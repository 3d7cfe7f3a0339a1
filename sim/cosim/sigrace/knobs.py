"""Named mixes of random core events that reach different corner cases."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Knobs:
    """A mix.  Rates are probabilities of an event; the rest are loads and stores.

    Parameters
    ----------
    words : int
        Words accessed around each place.
    places : int
        Places, with distinct USB values, most of them shared by all threads.
    scatter : float
        Accesses to random addresses.
    widest : int
        Maximum bytes of an access.
    instructions : int
        Maximum instructions of an event.
    plain : float
        Events without an access.
    sync : float
        sync_reached; a thread then mostly merges another one's timestamp.
    odd_time : float
        A timestamp counter gets a random value: late messages, and saturation.
    collect : float
        Collection off, and on again after some events.
    migrate : float
        Two contexts swap threads, as by an operating system.
    rogue : float
        A context takes a thread, or loses its own, against CoreToThread.
    analysis : float
        A context gets a mode, and new words of TRT and Conflict Signature.
    reset : float
        A program starts.
    """

    words: int = 64
    places: int = 6
    scatter: float = 0.01
    widest: int = 8
    instructions: int = 12
    plain: float = 0.1
    sync: float = 0.01
    odd_time: float = 0.0005
    collect: float = 0.002
    migrate: float = 0.0005
    rogue: float = 0.0001
    analysis: float = 0.0005
    reset: float = 0.00005


#: Mixes by name; a campaign takes one after the other.
KNOBS = {
    "mixed": Knobs(),
    "long blocks": Knobs(
        words=2000, places=4, scatter=0, plain=0.4, instructions=4, sync=0.0002, migrate=0.0001
    ),
    "scattered": Knobs(places=400, scatter=0.5, widest=16, sync=0.002),
    "synchronising": Knobs(words=16, sync=0.2, odd_time=0.005, plain=0.2),
    "moving": Knobs(sync=0.02, migrate=0.02, rogue=0.004, collect=0.02),
    "analysing": Knobs(words=32, analysis=0.02, widest=16, collect=0.01),
    "jumping": Knobs(instructions=4095, sync=0.05, odd_time=0.02, reset=0.002, plain=0.3),
    "dense": Knobs(words=8, places=2, scatter=0, instructions=1, plain=0, sync=0.003, migrate=0),
}
