"""Coverage of what only shows at the ports: stalls and transfers in consecutive cycles."""

from __future__ import annotations

from racetrap.tb.bench import Bench
from racetrap.tb.scord.coverage import Coverage

__all__ = ["watch_ports"]


def watch_ports(bench: Bench, coverage: Coverage) -> None:
    """Count what the transaction streams and the interrupt line do, from now on."""
    pins = bench.pins
    valids = [pins.flag(f"i_transaction__{sm}__valid") for sm in range(bench.params.sm_count)]
    readys = [pins.flag(f"i_transaction__{sm}__ready") for sm in range(bench.params.sm_count)]
    streams = list(zip(valids, readys, strict=True))
    every_valid = sum(valids)
    irq = pins.flag("irq")
    before = 0

    def look(flags: int) -> None:
        nonlocal before
        if flags & irq:
            coverage.hit("irq")
        if not flags & every_valid:
            before = 0
            return
        taken = 0
        for valid, ready in streams:
            if flags & valid:
                if flags & ready:
                    taken |= valid
                else:
                    coverage.hit("transaction.stalled")
        if taken & before:
            coverage.hit("transaction.back_to_back")
        before = taken

    bench.clocking.each(look)
