"""Runs of firmware without the cache operations and waits of one place after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from racetrap.rtl.soc.params import SocParams
from racetrap.sim.accelerator.without import Without, places_of, rules_text
from racetrap.sim.failure import Failure
from racetrap.sim.soc.image import Image
from racetrap.sim.soc.run import SystemRun, run_firmware
from racetrap.sim.soc.systems import LEFT_OUT

#: Opcodes of cache operations: of cache-block instructions, and of those of the whole cache.
_CACHE_OPCODES = (0x0F, 0x2B)
_NOP = 0x13
#: A run that takes so many times the cycles of the whole one does not end.
_TIMES_THE_CYCLES = 10


def runs_without_each(
    system: str, params: SocParams, image: Image, arguments: Sequence[str], whole: SystemRun,
    seed: int = 1,
) -> Iterator[Without]:  # fmt: skip
    """Run firmware again for each place of cache operations and waits, without them.

    A cache operation that the firmware's own code has is replaced by an instruction that does
    nothing; for one that the project's runtime has, the runtime skips the call.

    Parameters
    ----------
    system, params, image, arguments, seed
        As for ``run_firmware``.
    whole : SystemRun
        The run with all of them.

    Raises
    ------
    Failure
        If the system cannot be built.
    """
    for place, _ in places_of(whole.trace):
        try:
            run = run_firmware(
                system, params, _without(image, place.pc), arguments, seed=seed,
                most_cycles=_TIMES_THE_CYCLES * whole.cycles,
            )  # fmt: skip
        except Failure as failure:
            yield replace(place, harm=str(failure))
        else:
            yield replace(place, harm=_harm(whole, run, place.pc))


def _without(image: Image, pc: int) -> Image:
    is_instruction = image.words.get(pc, 0) & 0x7F in _CACHE_OPCODES
    return replace(image, words=image.words | ({pc: _NOP} if is_instruction else {LEFT_OUT: pc}))


def _harm(whole: SystemRun, run: SystemRun, pc: int) -> str:
    """What a run shows that the whole one does not."""
    if pc in run.trace.maintenance_places:
        return "cannot be left out: firmware has a runtime of its own"
    new = {race.rule for race in run.races} - {race.rule for race in whole.races}
    found = [
        rules_text(rule.value for rule in new),
        "wrong data" * (run.wrong_reads > whole.wrong_reads),
        "other output" * ((run.status, run.console) != (whole.status, whole.console)),
    ]
    return "; ".join(each for each in found if each)
