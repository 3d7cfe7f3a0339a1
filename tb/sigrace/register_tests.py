"""cocotb test of the register port: identity, misuse, selects out of range, enable."""

from __future__ import annotations

import cocotb

from racetrap.golden_model.sigrace.environment import OWN, CoreCommand, Remap, Slot
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp
from racetrap.golden_model.sigrace.params import Form
from racetrap.tb.base_test import run_test
from racetrap.tb.register_rules import RegisterRules, demand
from racetrap.tb.sigrace.sigrace_test import SigraceTest


class _RegisterMisuse(SigraceTest):
    async def body(self) -> None:
        self._ports = self.environment.registers
        await self._rules()
        await self._contexts()
        await self._messages("before enable is set", enable=False)
        await self._messages("checked", enable=True)
        await self._log_out_of_range()
        await self._messages("after enable is cleared", enable=False)
        await self.environment.request("clear_counters")
        counters = await self.environment.software.counters()
        demand("Counters", counters, dict.fromkeys(counters, 0))
        await self.environment.finish()

    async def _rules(self) -> None:
        rules, ports = RegisterRules(self.testbench, self._ports), self._ports
        coverage = self.environment.scoreboard.coverage
        is_hashed = self.testbench.params.form is Form.HASHED
        await rules.check_identity(b"SigR", is_hashed=is_hashed)
        coverage.hit("register.error", await rules.check_errors())
        await rules.check_strobes("LOG_SELECT")
        coverage.hit("register.partial_write")
        # The pulses of CONTROL lie in its second byte: a write of the first makes none.
        demand("Response", await ports.write_at(ports.map.address("CONTROL"), b"\x02"), 0)
        demand("CONTROL", await ports.read("CONTROL"), 2)

    async def _contexts(self) -> None:
        """CoreToThread keeps what is written; what is out of range is ignored and reads as 0."""
        software, params = self.environment.software, self.testbench.params
        most = max(params.threads - 1, 0)
        for core, context in self.environment.contexts:
            await software.remap(Remap(core, context, most))
        for core, context in ((params.cores, 0), (0, params.contexts), (255, 15)):
            await software.remap(Remap(core, context, 0))
            demand(f"MAP of {core, context}", await software.mapping(core, context), (None, 0))
        for core, context in self.environment.contexts:
            seen, _ = await software.mapping(core, context)
            demand(f"MAP of {core, context}", seen, most)
            await software.remap(Remap(core, context, None))
            demand("MAP", await software.mapping(core, context), (None, 0))

    async def _messages(self, when: str, *, enable: bool) -> None:
        """A conflict on every context: only what is checked is counted as a message."""
        places: list[Slot] = list(self.environment.contexts)[: self.testbench.params.threads]
        counter = "messages" if enable else "ignored"
        before = (await self.environment.software.counters())[counter]
        await self.environment.control(enable=enable)
        commands: list[CoreCommand | Remap] = []
        for thread, place in enumerate(places):
            commands.append(Remap(*place, thread))
            commands += [
                CoreCommand(*place, event, OWN)
                for event in (
                    CoreEvent(CoreOp.SWITCH_IN, index=thread),
                    CoreEvent(CoreOp.COLLECT_ON),
                    CoreEvent(CoreOp.STORE, data=64, size=4, instructions=1, pc=thread),
                    CoreEvent(CoreOp.SYNC_REACHED),
                )
            ]
        await self.play(commands)
        counters = await self.environment.finish()
        demand(f"Counter {counter} {when}", counters[counter], before + len(places))

    async def _log_out_of_range(self) -> None:
        """Words beyond the log's end read as 0."""
        software, params = self.environment.software, self.testbench.params
        count = await software.log_count()
        for entry, word in ((count, 0), (0, params.log_words), (0xFFFF, 0), (0, 0xFFFF)):
            demand(f"Word {word} of entry {entry}", await software.log_word(entry, word), 0)


@cocotb.test()
async def register_misuse(dut):
    await run_test(dut, _RegisterMisuse)
