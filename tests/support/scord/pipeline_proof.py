"""Harness for a proof on the check pipeline: each step is that of a detector without a pipeline.

Beside the pipeline stands what it must compute: the results of all slots, the fence counters of all
warps, and one decision on the step that has just come out.
"""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import PacketKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.hazard_window import slot_bits
from racetrap.rtl.gpu.metadata_accessor import checked_packet, located_packet
from racetrap.rtl.gpu.warp_slot import warp_index
from racetrap.rtl.scord.access_relation import AccessComparator, identify
from racetrap.rtl.scord.detection_logic import DetectionLogic
from racetrap.rtl.scord.fence_counters import fence_counters
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_COUNTERS, _DECISION, _PIPELINE = (
    f"scord/{name}.py" for name in ("fence_counters", "decision_stage", "check_pipeline")
)
_FILES = (_COUNTERS, "scord/fence_file.py", _DECISION, _PIPELINE)
#: The counters of all warps: the fence file has one lane.
_LANE = "fence_file.lane_0"


class PipelineHarness(Harness):
    """A check pipeline with free packets, each with any entry, or forwarded from any slot before.

    Parameters
    ----------
    params : ScordParams
        Configuration; one word and one fence lane a cycle, a power of two of SMs.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        self._modules = modules = modules_with(_FILES, case.bug)
        modules[_COUNTERS].block_memory = lambda shape, depth: OpenMemory(
            shape=shape, depth=depth, init=[]
        )
        self._pipeline = modules[_PIPELINE].CheckPipeline(params)
        self._entry = struct_layout(params.entry_layout)
        super().__init__(case, {
            "i_valid": In(1), "i_located": In(located_packet(params)), "i_entry": In(self._entry),
            "i_read_error": In(1), "i_forwarded": In(1), "i_source": In(slot_bits(params)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        pipeline, params = self._pipeline, self._params
        self._inner = OpenComponent(pipeline)
        m.submodules.pipeline = self._inner.fragment
        given = self._elaborate_packets(m)
        step, checked = pipeline.o_step, pipeline.o_checked
        slot = checked.p.slot
        results = self._results
        # What the packet of this step was given.
        located = data.View(located_packet(params), given["located"][slot])
        forwarded, source = given["forwarded"][slot], given["source"][slot]
        before = Signal(self._entry)
        read_error = ~forwarded & given["read_error"][slot]
        m.d.comb += before.eq(Mux(forwarded, results[source], given["entry"][slot]))
        expected = self._elaborate_decision(m, located, before, read_error)
        layout = params.step_layout
        same = [(name, step.p[name] == value) for name, value in expected.items()]
        assert {name for name, _ in same} == set(layout.fields)
        rules = [
            step.valid == checked.valid,
            checked.valid == self._late_valid,
            *(~step.valid | is_same for _, is_same in same),
            ~checked.valid | (checked.p.slot == self._late_slot),
            ~checked.valid | (checked.p.entry.as_value() == step.p.after),
            ~checked.valid
            | (checked.p.changed == (step.p.read_error | (step.p.after != step.p.before))),
        ]
        ahead = [(slot - source)[: slot_bits(params)] == distance for distance in (1, 2, 3)]
        is_fence = step.p.packet.kind == PacketKind.FENCE
        fenced = Signal()
        m.d.sync += fenced.eq(step.valid & is_fence)
        events = {
            **{
                f"from-{distance}-ahead": step.valid & forwarded & place & ~is_fence
                for distance, place in enumerate(ahead, 1)
            },
            "race": step.valid & (step.p.race != 0) & forwarded,
            "fence-just-ahead": step.valid & fenced & (step.p.owner_blk_fence_id != 0),
        }
        helps = self._helps(given)
        helps += self._helps_of_lookup(given)
        helps += self._helps_of_request(m, given)
        helps += self._helps_behind()
        self.state(m, rules, events, helps)
        return m

    def _elaborate_packets(self, m: Module) -> dict[str, Array]:
        """Packets in: in order of slots, with results as their memory would answer."""
        params, port = self._params, self._pipeline.i
        bits, slots = slot_bits(params), params.outstanding
        position, known = Signal(bits), Signal(range(slots))
        # Not more than a packet's slot is taken from: the three before it, if there were so many.
        distance = (position - self.i_source)[:bits]
        forwards = self.i_forwarded & self.i_located.monitored
        is_fence = self.i_located.packet.kind == PacketKind.FENCE
        results = Array(Signal(64, name=f"result_{n}") for n in range(slots))
        answers = Array(Signal(64, name=f"answer_{n}") for n in range(slots))
        answer = Signal(self._entry)
        m.d.sync += [
            position.eq(position + self.i_valid),
            known.eq(Mux(known == slots - 1, known, known + self.i_valid)),
            *(late.eq(now) for late, now in zip(answers, results, strict=True)),
        ]
        m.d.comb += [
            answer.eq(answers[self.i_source]),
            port.valid.eq(self.i_valid),
            port.p.located.eq(self.i_located),
            port.p.slot.eq(position),
            port.p.entry.eq(self.i_entry),
            port.p.read_error.eq(self.i_read_error & ~forwards),
            port.p.is_forwarded.eq(forwards),
            port.p.source.eq(self.i_source),
            port.p.result.eq(answer),
            warp_index(params, port.p.entry_owner, self.i_entry),
            warp_index(params, port.p.result_owner, answer),
            Assume(~forwards | ((distance != 0) & (distance <= known))),
            Assume(~(is_fence & self.i_located.monitored)),
            # A read that failed gives an entry of zeros.
            Assume(~self.i_read_error | (Value.cast(self.i_entry) == 0)),
        ]
        checked = self._pipeline.o_checked
        with m.If(checked.valid):
            m.d.sync += results[checked.p.slot].eq(checked.p.entry)
        self._results = results
        given = {
            "located": (Value.cast(self.i_located), len(Value.cast(self.i_located))),
            "entry": (Value.cast(self.i_entry), 64), "read_error": (port.p.read_error, 1),
            "forwarded": (forwards, 1), "source": (self.i_source, bits),
        }  # fmt: skip
        kept = {}
        for name, (value, width) in given.items():
            kept[name] = Array(Signal(width, name=f"{name}_{n}") for n in range(slots))
            with m.If(self.i_valid):
                m.d.sync += kept[name][position].eq(value)
        # Only a packet that has an entry leaves one behind.
        source = data.View(located_packet(params), kept["located"][self.i_source])
        m.d.comb += Assume(~forwards | source.monitored)
        # Latency is three cycles.
        late = [(self.i_valid, position)]
        for number in range(4):
            valid, slot = Signal(name=f"valid_{number}"), Signal(bits, name=f"slot_{number}")
            m.d.sync += [valid.eq(late[-1][0]), slot.eq(late[-1][1])]
            late.append((valid, slot))
        self._stages, self._position, self._answers = late[1:], position, answers
        self._late_valid, self._late_slot = late[3]
        return kept

    def _number(self, holder) -> Value:
        """Number of the warp slot of a packet or an entry."""
        return Cat(holder.warp, holder.block[self._params.slot_bits :])

    def _elaborate_decision(self, m: Module, located, before, read_error) -> dict[str, Value]:
        """The step of one packet, by the tables and by fence counters that all see at once."""
        params, packet = self._params, located.packet
        counters = fence_counters(params)
        self._counters = Array(
            Signal(counters, name=f"counters_{number}")
            for number in range(params.sm_count << params.warp_bits)
        )
        owner, own = Signal(counters), Signal(counters)
        is_fence = packet.kind == PacketKind.FENCE
        m.d.comb += [
            owner.eq(self._counters[self._number(before)]),
            own.blk.eq(
                data.View(counters, self._counters[self._number(packet)]).blk
                + (is_fence & (packet.scope == Scope.BLOCK))
            ),
            own.dev.eq(
                data.View(counters, self._counters[self._number(packet)]).dev
                + (is_fence & (packet.scope == Scope.DEVICE))
            ),
        ]
        with m.If(self._pipeline.o_step.valid & is_fence):
            m.d.sync += self._counters[self._number(packet)].eq(own)
        m.submodules.logic = self._logic = logic = DetectionLogic(params)
        m.submodules.relation = relation = AccessComparator(params)
        is_uninitialised = (before.as_value() & UNINITIALISED_ENTRY) == UNINITIALISED_ENTRY
        is_other = before.tag != located.tag
        m.d.comb += [
            identify(relation.i, packet, located.tag),
            identify(relation.i_last, before, before.tag),
            logic.i_packet.eq(packet),
            logic.i_entry.eq(before),
            logic.i_uninitialised.eq(read_error | is_uninitialised | is_other),
            logic.i_tag.eq(located.tag),
            logic.i_relation.eq(relation.o),
            logic.i_fenced.blk.eq(before.blk_fence_id != owner.blk),
            logic.i_fenced.dev.eq(before.dev_fence_id != owner.dev),
            logic.i_own.eq(own),
        ]
        is_checked, has_counters = located.monitored, located.monitored | is_fence
        other_row = Mux(is_fence, TableRow.FENCE, TableRow.UNMONITORED)
        return {
            "packet": self._pipeline.o_step.p.packet,
            "row": Mux(is_checked, logic.o_row, other_row),
            "preliminary": Mux(is_checked, logic.o_preliminary, 0),
            "race": Mux(is_checked, logic.o_race, 0),
            "tag_conflict": is_checked & ~read_error & ~is_uninitialised & is_other,
            "read_error": is_checked & read_error,
            "owner_blk_fence_id": Mux(is_checked, owner.blk, 0),
            "owner_dev_fence_id": Mux(is_checked, owner.dev, 0),
            "own_blk_fence_id": Mux(has_counters, own.blk, 0),
            "own_dev_fence_id": Mux(has_counters, own.dev, 0),
            "before": Mux(is_checked, before.as_value(), 0),
            "after": Mux(is_checked, logic.o_after.as_value(), 0),
        }

    def _fence_file(self, name: str) -> Signal:
        return self._inner[f"{_LANE}.{name}"]

    def _helps(self, given: dict[str, Array]) -> list[Value]:
        """What the registers of all stages hold, by what their packets were given."""
        inner, step = self._inner, self._pipeline.o_step
        self._rows = rows = Array(
            self._fence_file(f"memory.row_{number}") for number in range(len(self._counters))
        )
        self._located = [
            data.View(located_packet(self._params), given["located"][slot])
            for _, slot in self._stages
        ]
        self._forwarded = forwarded = [given["forwarded"][slot] for _, slot in self._stages]
        self._source = source = [given["source"][slot] for _, slot in self._stages]
        self._is_fenced = step.valid & (step.p.packet.kind == PacketKind.FENCE)
        names = ("lookup_valid", "request_valid", None, "older_valid")
        helps = [
            inner[name] == valid
            for name, (valid, _) in zip(names, self._stages, strict=True) if name
        ]  # fmt: skip
        helps.append(self._fence_file("clearing") == len(rows))
        helps += [
            row == Mux(self._is_fenced & (self._number(step.p.packet) == number),
                       Cat(step.p.own_blk_fence_id, step.p.own_dev_fence_id),
                       self._counters[number])
            for number, row in enumerate(rows)
        ]  # fmt: skip
        place = self._position
        for number, (valid, slot) in enumerate(self._stages):
            place = place - valid
            helps += [
                ~valid | (slot == place[: len(slot)]),
                ~(valid & forwarded[number]) | (source[number] != slot),
                ~(valid & forwarded[number]) | ~given["read_error"][slot],
            ]
        return helps

    def _helps_of_lookup(self, given: dict[str, Array]) -> list[Value]:
        """What the registers behind the first stage hold."""
        lookup = data.View(self._modules[_PIPELINE]._lookup(self._params), self._inner["lookup"])
        (valid, slot), (valid_1, slot_1), (valid_2, slot_2), _ = self._stages
        located, forwarded, source = self._located, self._forwarded[0], self._source[0]
        comes_1, comes_2 = valid_1 & (slot_1 == source), valid_2 & (slot_2 == source)
        helps = [
            lookup.slot == slot,
            Value.cast(lookup.located) == Value.cast(located[0]),
            lookup.is_forwarded == forwarded,
            lookup.source == source,
            lookup.read_error == given["read_error"][slot],
            forwarded | (Value.cast(lookup.entry) == given["entry"][slot]),
            ~forwarded | comes_1 | comes_2 | (Value.cast(lookup.entry) == self._results[source]),
            ~(forwarded & comes_1) | located[1].monitored,
            ~(forwarded & comes_2) | located[2].monitored,
            self._fence_file("owner") == self._number(lookup.entry),
            self._fence_file("own") == self._number(located[0].packet),
        ]
        for who in ("owner", "own"):
            warp, answer = self._fence_file(who), self._fence_file(f"memory.{who}_port__data")
            is_old = self._fence_file("written") & (self._fence_file("written_slot") == warp)
            helps.append(is_old | (answer == self._rows[warp]))
        return [~valid | each for each in helps]

    def _helps_of_request(self, m: Module, given: dict[str, Array]) -> list[Value]:
        """What the registers behind the second stage hold."""
        layout = self._modules[_DECISION].decision_request(self._params)
        request = data.View(layout, self._inner["request"])
        before = data.View(self._entry, self._pipeline.o_step.p.before)
        _, (valid, slot), (valid_2, slot_2), _ = self._stages
        _, located, ahead, _ = self._located
        forwarded, source = self._forwarded[1], self._source[1]
        follows = forwarded & valid_2 & (slot_2 == source)
        relations = self._relations(m, located, {
            "before": (before, before.tag), "ahead": (ahead.packet, ahead.tag),
            "entry": (request.entry, request.entry.tag),
        })  # fmt: skip
        relation = Mux(request.follows, relations["before"], relations["entry"])
        entry = Mux(forwarded, self._results[source], given["entry"][slot])
        own, rows = self._number(located.packet), self._rows
        helps = [
            request.slot == slot,
            Value.cast(request.located) == Value.cast(located),
            request.read_error == given["read_error"][slot],
            request.follows == follows,
            ~follows | ahead.monitored,
            follows | (Value.cast(request.entry) == entry),
            Value.cast(request.relation) == relation,
            ~follows | (Value.cast(request.relation_if_replaced) == relations["ahead"]),
            follows | (self._fence_file("o_owner") == rows[self._number(request.entry)]),
            self._fence_file("looked_up") == rows[own],
            self._fence_file("answered") == own,
        ]
        return [~valid | each for each in helps]

    def _helps_behind(self) -> list[Value]:
        """What the registers of the third stage hold, and those behind it."""
        inner, logic, results, step = self._inner, self._logic, self._results, self._pipeline.o_step
        older = data.View(checked_packet(self._params), inner["older"])
        _, _, (valid_2, _), (valid, slot) = self._stages
        is_monitored, number = valid_2 & self._located[2].monitored, self._number(step.p.packet)
        return [
            self._fence_file("written") == self._is_fenced,
            ~self._is_fenced | (self._fence_file("written_slot") == number),
            ~self._is_fenced | (self._fence_file("written_value") == self._rows[number]),
            ~is_monitored | (inner["decision.owner_replaced"] == logic.o_owner_replaced),
            ~is_monitored | (inner["decision.last_fenced"] == Value.cast(logic.i_fenced)),
            ~valid | (older.slot == slot),
            ~valid | (Value.cast(older.entry) == results[slot]),
            *(
                (valid & (slot == place)) | (answer == results[place])
                for place, answer in enumerate(self._answers)
            ),
        ]

    def _relations(self, m: Module, located, lasts) -> dict[str, Value]:
        """How a packet stands to other accesses."""
        relations = {}
        for name, (last, tag) in lasts.items():
            m.submodules[f"relation_to_{name}"] = relation = AccessComparator(self._params)
            m.d.comb += [
                identify(relation.i, located.packet, located.tag),
                identify(relation.i_last, last, tag),
            ]
            relations[name] = Value.cast(relation.o)
        return relations
