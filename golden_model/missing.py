"""What would have ordered two accesses that race, and is missing: the words of every judge."""

from __future__ import annotations

from enum import StrEnum


class Missing(StrEnum):
    """What two racing accesses lack; values are for files."""

    RELEASE = "release"
    ACQUIRE = "acquire"
    SCOPE = "scope"
    BARRIER = "barrier"
    WARP_BARRIER = "warp-barrier"
    UNEQUAL_STORE = "unequal-store"
    STRONG_ACCESS = "strong-access"
    STREAM_ORDER = "stream-order"

    @property
    def reason(self) -> str:
        """Why the two accesses race, as a clause."""
        return _REASONS[self]


_REASONS = {
    Missing.RELEASE: "the earlier access has no release of this scope behind it",
    Missing.ACQUIRE: "it comes behind no acquire of what the earlier thread released",
    Missing.SCOPE: "the scope is too narrow for the two threads",
    Missing.BARRIER: "no barrier of the block lies between them",
    Missing.WARP_BARRIER: "no barrier of the warp lies between its lanes",
    Missing.UNEQUAL_STORE: "lanes of one store store different values to one address",
    Missing.STRONG_ACCESS: "only fences order the two accesses, and one of them is weak",
    Missing.STREAM_ORDER: "neither a stream nor an event nor a wait of the host orders them",
}
