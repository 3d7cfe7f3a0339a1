"""Plans for the random testbenches: stimulus, and speed of cores and software."""

from __future__ import annotations

from typing import Any

_REQUESTS = ("flush", "clear_log", "clear_counters")


def fast_cores() -> dict[str, Any]:
    """An event in every cycle, trap records taken at once."""
    return {"busy": 1.0, "trap_stall": 0.0}


def slow_software() -> dict[str, Any]:
    """Cores with pauses, and trap records that are seldom taken."""
    return {"busy": 0.9, "longest_idle": 40, "trap_stall": 0.95}


def random_plan(knobs: list[str], actions: int, timing: dict[str, Any]) -> dict[str, Any]:
    """Plan with one run for each mix.

    Queues, log and counters carry over from one run to the next, apart from one more request before
    each.  Every other run answers the interrupt; the fourth runs with checking disabled, the fifth
    with the interrupt disabled, and so on.

    Parameters
    ----------
    knobs : list of str
        Mixes of ``racetrap.sim.cosim.sigrace.knobs``.
    actions : int
        Actions of each run.
    timing : dict
        ``fast_cores()`` or ``slow_software()``, or any keys of the testbench's plan.
    """
    runs = [
        {
            "knobs": name, "actions": actions, "enable": number % 4 != 3,
            "irq_enable": number % 4 != 0, "serves": number % 2 == 1,
            "requests": list(_REQUESTS[: number % (len(_REQUESTS) + 1)]),
        }
        for number, name in enumerate(knobs)
    ]  # fmt: skip
    return {"runs": runs, **timing}
