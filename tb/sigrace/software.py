"""What system software does with SigRace: CoreToThread, requests, log, counters."""

from __future__ import annotations

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import LogEntry
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.rtl.sigrace.rdm_controller import PULSES
from racetrap.tb.register_agent import RegisterAgent, RegisterError

__all__ = ["COUNTERS", "Software"]

#: Counter registers that the golden model has as well, in lower case.
COUNTERS = PULSES
_POLLS = 2_000


class Software:
    """Register protocol of the Race Detection Module.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    registers : RegisterAgent
        Way to the registers.
    """

    def __init__(self, params: SigraceParams, registers: RegisterAgent):
        self._params = params
        self._registers = registers
        self._control = {"enable": 0, "irq_enable": 0}

    @property
    def has_interrupt(self) -> bool:
        """Whether the interrupt line is enabled."""
        return bool(self._control["irq_enable"])

    async def control(self, *, enable: bool = True, irq_enable: bool = True) -> None:
        """Switch checking, and the interrupt, on or off."""
        self._control = {"enable": int(enable), "irq_enable": int(irq_enable)}
        await self.pulse()

    async def pulse(self, *names: str) -> None:
        """Write CONTROL as it is, with these pulses; gives back when the write is answered."""
        fields = self._control | dict.fromkeys(names, 1)
        await self._registers.write("CONTROL", self._registers.map.pack("CONTROL", **fields))

    async def status(self) -> dict[str, int]:
        """Fields of STATUS."""
        return await self._fields("STATUS", "idle", "saturated", "sequence_gap", "reasons")

    async def wait_idle(self) -> None:
        """Poll STATUS until the module is idle."""
        for _ in range(_POLLS):
            if (await self.status())["idle"]:
                return
        raise RegisterError("STATUS.idle must become 1")

    async def select(self, core: int, context: int) -> None:
        """Choose the context that MAP and MAP_SEQUENCE are about."""
        word = self._registers.map.pack("MAP_SELECT", core=core, context=context)
        await self._registers.write("MAP_SELECT", word)

    async def remap(self, remap: Remap) -> None:
        """Say in CoreToThread who runs on a context."""
        await self.select(remap.core, remap.context)
        fields = {} if remap.thread is None else {"thread": remap.thread, "valid": 1}
        await self._registers.write("MAP", self._registers.map.pack("MAP", **fields))

    async def mapping(self, core: int, context: int) -> tuple[int | None, int]:
        """A context's thread, and the sequence number that is due from it."""
        await self.select(core, context)
        fields = await self._fields("MAP", "thread", "valid")
        expected = await self._registers.read("MAP_SEQUENCE")
        return fields["thread"] if fields["valid"] else None, expected

    async def counters(self) -> dict[str, int]:
        """All counter registers by name in lower case."""
        names = (*COUNTERS, "stall_cycles")
        return {name: await self._registers.read(name.upper()) for name in names}

    async def log(self) -> list[LogEntry]:
        """The conflict log, oldest entry first."""
        return [await self._entry(number) for number in range(await self.log_count())]

    async def log_count(self) -> int:
        """Conflicts logged."""
        return await self._registers.read("LOG_COUNT")

    async def log_word(self, entry: int, word: int) -> int:
        """A word of an entry of the log."""
        select = self._registers.map.pack("LOG_SELECT", entry=entry, word=word)
        await self._registers.write("LOG_SELECT", select)
        return await self._registers.read("LOG_DATA")

    async def _entry(self, number: int) -> LogEntry:
        params, packed = self._params, 0
        for word in range(params.log_words):
            packed |= await self.log_word(number, word) << word * WORD_BITS
        fields = params.log_layout.unpack(packed)
        del fields["unused"]
        bits = params.timestamp_bits
        for name in ("thread_timestamp", "other_timestamp"):
            fields[name] = tuple(
                fields[name] >> thread * bits & params.max_counter
                for thread in range(params.threads)
            )
        return LogEntry(**fields)

    async def _fields(self, register: str, *names: str) -> dict[str, int]:
        word = await self._registers.read(register)
        fields = self._registers.map.fields(register, word)
        return {name: fields[name] for name in names}
