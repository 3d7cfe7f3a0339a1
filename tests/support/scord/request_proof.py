"""Harness for a proof on the tiles' fences: each copy is in one place, over any network.

The network is a set: of what has been sent and has not arrived, anything may arrive next.  So the
proof holds for every delay, and for networks that keep no order at all.
"""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_COMMON = ("common/stream.py", "common/arbiter.py")
SENDER, RECEIVER = "scord/request_sender.py", "scord/request_receiver.py"
#: Cycles in which the network takes what an SM offers, until a waiting copy leaves.
_TURNS = 7


class FenceHarness(Harness):
    """Senders and receivers; trackers, network and banks do anything that their rules allow.

    Parameters
    ----------
    params : ScordParams
        Configuration; two warps an SM, so that the queue of fences is two registers.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        modules = modules_with([*_COMMON, SENDER, RECEIVER], case.bug)
        self._parts = modules[SENDER].RequestSender, modules[RECEIVER].RequestReceiver
        sms, slices = params.sm_count, params.metadata_ports
        super().__init__(case, {
            "i_valid": In(sms), "i_quiet": In(sms), "i_ask": In(1),
            "i_packet": In(struct_layout(params.segment_layout)).array(sms),
            # What the network takes of each SM, and of each slice.
            "i_takes": In(sms), "i_takes_answer": In(slices),
            # What arrives at each slice, and at each SM from a slice.
            "i_arrives": In(slices), "i_answer_arrives": In(sms),
            "i_request": In(struct_layout(params.request_layout)).array(slices),
            "i_response": In(struct_layout(params.response_layout)).array(sms),
            "i_from": In(range(slices)).array(sms),
            "i_ready": In(slices), "i_idle": In(slices),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        sms, slices = range(params.sm_count), range(params.metadata_ports)
        senders, receivers = (
            [self._parts[0](params) for _ in sms],
            [self._parts[1](params) for _ in slices],
        )
        inner = []
        for name, parts in (("sender", senders), ("receiver", receivers)):
            opened = [OpenComponent(part) for part in parts]
            for number, each in enumerate(opened):
                m.submodules[f"{name}_{number}"] = each.fragment
            inner.append(opened)
        self._senders, self._receivers = (
            list(zip(senders, inner[0], strict=True)),
            list(zip(receivers, inner[1], strict=True)),
        )
        self._rules: list[Value] = []
        self._helps: list[Value] = []
        self._connect(m)
        warps = [(sm, warp) for sm in sms for warp in range(params.warps_per_sm)]
        self._on_way = {pair: Signal(name=f"on_way_{pair[0]}_{pair[1]}") for pair in warps}
        for pair in warps:
            self._elaborate_fence(m, *pair)
        for sm in sms:
            self._elaborate_marks(m, sm)
            self._elaborate_progress(m, sm)
        self._only_what_was_sent(m)
        events = {
            "all-warps-fence": Cat(self._on_way.values()).all(),
            "a-slice-is-late": self._on_way[0, 0] & self._taken[0, 0, 0] & ~self._taken[0, 0, 1],
            "a-fence-ends": senders[1].o_fenced[1],
            "a-slice-has-a-mark": inner[1][0]["marked"][0],
            "fences-wait-for-each-other": Cat(level for level, _ in self._queue(inner[0][0])).all(),
        }
        self.state(m, self._rules, events, self._helps)
        return m

    def _connect(self, m: Module) -> None:
        params = self._params
        for sm, (sender, _) in enumerate(self._senders):
            packet, port = self.i_packet[sm], sender.i_packet
            waits, before = Signal(name=f"waits_{sm}"), Signal(len(packet.as_value()))
            m.d.sync += [waits.eq(port.valid & ~port.ready), before.eq(packet)]
            m.d.comb += [
                sender.i_sm.eq(sm), port.valid.eq(self.i_valid[sm]), port.payload.eq(packet),
                sender.i_quiet.eq(self.i_quiet[sm]), sender.i_ask.eq(self.i_ask),
                sender.o_request.ready.eq(self.i_takes[sm]),
                sender.i_response.valid.eq(self.i_answer_arrives[sm]),
                sender.i_response.payload.eq(self.i_response[sm]),
                Assume(~waits | (port.valid & (packet.as_value() == before))),
                Assume(packet.block >> params.slot_bits == sm),
                Assume(packet.warp < params.warps_per_sm),
            ]  # fmt: skip
        for number, (receiver, _) in enumerate(self._receivers):
            m.d.comb += [
                receiver.i_request.valid.eq(self.i_arrives[number]),
                receiver.i_request.payload.eq(self.i_request[number]),
                receiver.o_packet.ready.eq(self.i_ready[number]),
                receiver.o_response.ready.eq(self.i_takes_answer[number]),
                receiver.i_idle.eq(self.i_idle[number]),
            ]
        self._taken: dict[tuple[int, int, int], Signal] = {}
        self._network: dict[tuple[int, int, int], Signal] = {}
        self._answers: dict[tuple[int, int, int], Signal] = {}
        self._marks: dict[tuple[int, int], Signal] = {}
        self._mark_answers: dict[tuple[int, int], Signal] = {}

    def _is_fence(self, request, sm: int, warp: int) -> Value:
        """Whether a request is a copy of a fence of a warp."""
        segment = request.segment
        return (
            ~request.is_mark & (segment.kind == PacketKind.FENCE) & (segment.warp == warp)
            & (segment.block >> self._params.slot_bits == sm)
        )  # fmt: skip

    def _elaborate_fence(self, m: Module, sm: int, warp: int) -> None:
        """Rules of a warp's fences."""
        sender, inner = self._senders[sm]
        name, packet, on_way = f"{sm}_{warp}", self.i_packet[sm], self._on_way[sm, warp]
        offered, told = sender.o_request, sender.o_fenced[warp]
        is_mine = (packet.kind == PacketKind.FENCE) & (packet.warp == warp)
        goes_in = Signal(name=f"goes_in_{name}")
        scope = Signal(name=f"scope_{name}")
        m.d.comb += [
            goes_in.eq(sender.i_packet.valid & sender.i_packet.ready & is_mine),
            # A tracker sends no fence of a warp that has one in flight.
            Assume(~(self.i_valid[sm] & is_mine) | ~on_way),
            Assume(~self.i_quiet[sm] | ~on_way),
        ]
        m.d.sync += on_way.eq(Mux(on_way, ~told, goes_in))
        with m.If(goes_in):
            m.d.sync += scope.eq(packet.scope)
        held = inner["merge.register.o__valid"]
        in_register = struct_layout(self._params.request_layout)(inner["merge.register.payload"])
        is_access = ~in_register.is_mark & (in_register.segment.kind != PacketKind.FENCE)
        ahead = Signal(name=f"ahead_{name}")
        with m.If(goes_in):
            m.d.sync += ahead.eq(held & is_access & ~offered.ready)
        with m.Elif(offered.ready):
            m.d.sync += ahead.eq(0)
        queue = self._queue(inner)
        here = [level & (fence.warp == warp) for level, fence in queue]
        is_offered = offered.valid & self._is_fence(offered.payload, sm, warp)
        self._rules += [
            # It comes behind all that its SM has sent before.
            ~is_offered | (~ahead & (offered.payload.segment.scope == scope) & on_way),
            ~told | on_way,
        ]
        self._helps += [
            ~ahead | (held & is_access & on_way & (here[0] | here[1])),
            *(
                ~is_here | ((fence.scope == scope) & (fence.block >> self._params.slot_bits == sm))
                for is_here, (_, fence) in zip(here, queue, strict=True)
            ),
            ~here[0] | ~here[1],
        ]
        answered = [
            self._elaborate_copy(m, sm, warp, number, scope, here)
            for number in range(self._params.metadata_ports)
        ]
        self._helps += [
            inner[f"answers_{warp}"] == sum(answered), ~on_way | ~Cat(answered).all(),
        ]  # fmt: skip

    def _elaborate_copy(
        self, m: Module, sm: int, warp: int, number: int, scope: Value, here: list[Value]
    ) -> Signal:
        """Rules of a fence at one slice; whether its answer has been counted."""
        params, (sender, inner), (receiver, slice_) = (
            self._params, self._senders[sm], self._receivers[number]
        )  # fmt: skip
        on_way, name = self._on_way[sm, warp], f"{sm}_{warp}_{number}"
        left, taken, given, answered, network, answers = (
            Signal(name=f"{what}_{name}")
            for what in ("left", "taken", "given", "answered", "network", "answers")
        )
        offered, told = sender.o_request, sender.o_fenced[warp]
        to_here = self._is_fence(offered.payload, sm, warp) & (
            offered.payload.destination == number
        )
        leaves = offered.valid & offered.ready & to_here
        arriving = self._is_fence(self.i_request[number], sm, warp) & self.i_arrives[number]
        accepted = arriving & receiver.i_request.ready
        packet = receiver.o_packet.payload
        is_taken = (
            receiver.o_packet.valid & receiver.o_packet.ready & (packet.kind == PacketKind.FENCE)
            & (packet.warp == warp) & (packet.block >> params.slot_bits == sm)
        )  # fmt: skip
        response = receiver.o_response
        of_fence = (
            ~response.payload.is_mark & (response.payload.destination == sm)
            & (response.payload.warp == warp)
        )  # fmt: skip
        gives = response.valid & response.ready & of_fence
        counted = (
            self.i_answer_arrives[sm] & ~self.i_response[sm].is_mark
            & (self.i_response[sm].warp == warp) & (self.i_from[sm] == number)
        )  # fmt: skip
        for bit, event in (
            (left, leaves), (taken, is_taken), (given, gives), (answered, counted),
        ):  # fmt: skip
            m.d.sync += bit.eq(Mux(told, 0, bit | event))
        m.d.sync += [
            network.eq((network | leaves) & ~accepted), answers.eq((answers | gives) & ~counted)
        ]  # fmt: skip
        m.d.comb += [
            Assume(~arriving | (network & (self.i_request[number].segment.scope == scope))),
            Assume(~counted | answers),
        ]
        self._rules += [
            # Each slice gets one copy and no other, its banks take one, it answers once.
            ~(offered.valid & to_here) | ~left,
            ~is_taken | (on_way & left & ~taken & (packet.scope == scope)),
            ~(response.valid & of_fence) | (taken & ~given),
            ~accepted | is_taken,
            # The fence ends when the banks of every slice have it.
            ~told | taken,
            # A slice whose banks and whose way back are free accepts it.
            ~(arriving & receiver.o_packet.ready & (~response.valid | response.ready)) | accepted,
        ]
        register = struct_layout(params.request_layout)(inner["merge.register.payload"])
        in_register = (
            inner["merge.register.o__valid"] & self._is_fence(register, sm, warp)
            & (register.destination == number)
        )  # fmt: skip
        is_marking, destination = inner["is_marking"], inner["destination"]
        pending = here[0] | (here[1] & (is_marking | (destination <= number)))
        waiting = slice_["response.o__valid"] & of_fence
        places = (pending, in_register, network, waiting, answers, answered)
        # Nothing is lost.
        self._rules += [~on_way | left | pending | in_register, ~taken | given | waiting]
        self._helps += [
            sum(places) == on_way,
            left == (network | waiting | answers | answered),
            taken == (waiting | answers | answered),
            given == (answers | answered),
            ~in_register | (register.segment.scope == scope),
        ]
        key = sm, warp, number
        self._taken[key], self._network[key], self._answers[key] = taken, network, answers
        return answered

    def _elaborate_marks(self, m: Module, sm: int) -> None:
        """Marks: they use the same ways, and hold up no fence for ever."""
        params, (sender, inner) = self._params, self._senders[sm]
        is_asking, is_marking = inner["is_asking"], inner["is_marking"]
        m.d.comb += Assume(~self.i_quiet[sm] | ~self.i_valid[sm])
        offered, ends, done = sender.o_request, [], []
        for number, (receiver, slice_) in enumerate(self._receivers):
            name = f"{sm}_{number}"
            network, answers, answered = (
                Signal(name=f"mark_{what}_{name}") for what in ("network", "answers", "answered")
            )
            to_here = offered.payload.is_mark & (offered.payload.destination == number)
            request = self.i_request[number]
            arriving = (
                self.i_arrives[number] & request.is_mark
                & (request.segment.block >> params.slot_bits == sm)
            )  # fmt: skip
            response = receiver.o_response
            of_mark = response.payload.is_mark & (response.payload.destination == sm)
            gives = response.valid & response.ready & of_mark
            counted = (
                self.i_answer_arrives[sm] & self.i_response[sm].is_mark
                & (self.i_from[sm] == number)
            )  # fmt: skip
            leaves = offered.valid & offered.ready & to_here
            m.d.sync += [
                network.eq((network | leaves) & ~arriving), answers.eq((answers | gives) & ~counted)
            ]  # fmt: skip
            m.d.comb += [Assume(~arriving | network), Assume(~counted | answers)]
            self._rules += [~arriving | receiver.i_request.ready]
            register = struct_layout(params.request_layout)(inner["merge.register.payload"])
            in_register = (
                inner["merge.register.o__valid"] & register.is_mark
                & (register.destination == number)
            )  # fmt: skip
            self._helps += [
                ~(inner["merge.register.o__valid"] & register.is_mark)
                | ((register.segment.block >> params.slot_bits == sm) & is_asking),
            ]
            waiting = slice_["response.o__valid"] & of_mark
            marked = slice_["marked"][sm]
            pending = is_marking & (inner["destination"] <= number)
            places = (pending, in_register, network, marked, waiting, answers, answered)
            self._helps += [sum(places) == is_asking]
            ends.append((answered, counted))
            done.append(answered)
            self._marks[sm, number], self._mark_answers[sm, number] = network, answers
        counts = [answered | counted for answered, counted in ends]
        for answered, counted in ends:
            m.d.sync += answered.eq((answered | counted) & ~Cat(counts).all())
        self._helps += [
            inner["answers"] == sum(done), ~Cat(done).all(), ~is_marking | is_asking,
            inner["destination"] < params.metadata_ports,
            (inner["destination"] == 0) | is_marking | self._queue(inner)[1][0],
        ]  # fmt: skip

    def _elaborate_progress(self, m: Module, sm: int) -> None:
        """While the network takes something, a copy that waits leaves within some cycles."""
        sender, inner = self._senders[sm]
        (first, _), (second, _) = self._queue(inner)
        register = struct_layout(self._params.request_layout)(inner["merge.register.payload"])
        held = inner["merge.register.o__valid"]
        in_register = held & ~register.is_mark & (register.segment.kind == PacketKind.FENCE)
        waits, turns = first | second | in_register, Signal(range(_TURNS + 2), name=f"turns_{sm}")
        leaves = sender.o_request.valid & sender.o_request.ready & in_register
        with m.If(~waits | leaves):
            m.d.sync += turns.eq(0)
        with m.Elif(self.i_takes[sm]):
            m.d.sync += turns.eq(turns + 1)
        # Turns until then: that of an access, of both marks, of a fence on its way in the queue.
        turn = Mux(inner["merge.after"][1], 1, 2)
        marks = Mux(inner["destination"] == 0, turn + 2, turn)
        left = Mux(second, turn + 1, 4)
        left = Mux(in_register, 1, Mux(inner["is_marking"], marks + 4, left))
        self._rules.append(turns <= _TURNS)
        self._helps.append(~waits | (turns + left <= _TURNS + 1))
        self._helps += [
            ~(first | second) | Cat(self._on_way[sm, warp] for warp in range(2)).any(),
            ~in_register | Cat(
                self._is_fence(register, sm, warp) & self._on_way[sm, warp] for warp in range(2)
            ).any(),
        ]  # fmt: skip

    def _only_what_was_sent(self, m: Module) -> None:
        """Only what has been sent arrives: copies and marks of SMs, and answers."""
        params = self._params
        warps = [*self._on_way]
        for number, (receiver, _) in enumerate(self._receivers):
            request = self.i_request[number]
            known = [self._is_fence(request, *pair) for pair in warps]
            marks = [
                request.is_mark & (request.segment.block >> params.slot_bits == sm)
                for sm in range(params.sm_count)
            ]
            is_access = ~request.is_mark & (request.segment.kind != PacketKind.FENCE)
            m.d.comb += Assume(~self.i_arrives[number] | Cat(*known, *marks, is_access).any())
            response = receiver.o_response
            mine = Cat(
                (response.payload.destination == sm)
                & (response.payload.is_mark | (response.payload.warp == warp))
                for sm, warp in warps
            )
            self._rules.append(~response.valid | mine.any())
        for sm, (sender, _) in enumerate(self._senders):
            response = self.i_response[sm]
            m.d.comb += Assume(
                response.is_mark | Cat(response.warp == warp for _, warp in warps).any()
            )
            m.d.comb += Assume(self.i_from[sm] < params.metadata_ports)
            offered = sender.o_request
            is_fence = ~offered.payload.is_mark & (offered.payload.segment.kind == PacketKind.FENCE)
            mine = Cat(
                self._is_fence(offered.payload, sm, warp) for other, warp in warps if other == sm
            )
            self._rules.append(~(offered.valid & is_fence) | mine.any())

    def _queue(self, inner: OpenComponent) -> list:
        """Whether there is a fence in each place of the queue, and which."""
        layout = struct_layout(self._params.fence_layout)
        return [
            (inner[f"fences.{place}.level"], layout(inner[f"fences.{place}.r_data"]))
            for place in ("first", "second")
        ]
