"""Coverage of what only shows at the ports: stalls, events in consecutive cycles, interrupts."""

from __future__ import annotations

from racetrap.tb.bench import Bench
from racetrap.tb.sigrace.coverage import Coverage

__all__ = ["watch_ports"]


def watch_ports(bench: Bench, coverage: Coverage) -> None:
    """Count what the streams of the core units and the interrupt line do, from now on."""
    pins = bench.pins
    units = range(bench.params.cores * bench.params.contexts)
    events = [(pins.flag(f"i_event__{n}__valid"), pins.flag(f"i_event__{n}__ready")) for n in units]
    traps = [(pins.flag(f"o_trap__{n}__valid"), pins.flag(f"o_trap__{n}__ready")) for n in units]
    irq = pins.flag("irq")
    before = 0

    def look(flags: int) -> None:
        nonlocal before
        taken = 0
        for valid, ready in events:
            if flags & valid:
                if flags & ready:
                    taken |= valid
                else:
                    coverage.hit("event.stalled")
        if taken & before:
            coverage.hit("event.back_to_back")
        before = taken
        if flags & irq:
            coverage.hit("rollback.interrupt")
        if any(flags & valid and not flags & ready for valid, ready in traps):
            coverage.hit("trap.stalled")

    bench.clocking.each(look)
