"""Bugs planted in the taps; also in what they are made of."""

from tests.support.noncoherent.taps.system import tap_bugs

RVFI_TAP_BUGS = tap_bugs({
    "trap-is-not-seen": ("rvfi_tap", "self.i_valid & ~retired.trap", "self.i_valid"),
    "load-takes-the-mask": ("rvfi_tap", "(opcode == LOAD) & retired.mem_rmask.any()", "Const(0)"),
    "offset-has-no-sign": ("rvfi_tap", "insn[20:].as_signed()", "insn[20:]"),
    "add-reads-what-a-load-has-read": (
        "rvfi_tap", "(insn[:2] != 3) | opcode.matches(LOAD_FP, AMO)", "Const(1)"
    ),
    "atomic-reads-nothing": ("rvfi_tap", "opcode.matches(LOAD_FP, AMO)", "opcode.matches(LOAD_FP)"),
    "tag-of-software-is-ignored": ("rvfi_tap", "self.i_tag.any()", "Const(0)"),
    "write-is-cached-in-a-window": (
        "address_map", "(attribute == Attribute.CACHED) & is_inside", "Const(0)"
    ),
    "line-of-an-alias": ("rvfi_tap", "places.o_address if has_range else 0",
                         "self.i_retired.rs1_rdata if has_range else 0"),
    "all-lines-have-a-size": ("rvfi_tap", "int(has_range)", "1"),
    "ignored-memory-is-accessed": (
        "rvfi_tap", "(places.o_attribute != Attribute.IGNORED)", "Const(1)"
    ),
})  # fmt: skip
LAST_STAGE_BUGS = tap_bugs({
    "store-is-lost": ("last_stage", "insn[:7] == STORE", "Const(0)"),
    "branch-is-a-load": ("last_stage", "insn[:7] == LOAD", "insn[:5] == LOAD"),
    "offset-has-no-sign": ("last_stage", "insn[20:].as_signed()", "insn[20:]"),
    "mask-is-the-first-bytes": ("last_stage", "<< address[:2]", "<< Const(0)"),
    "halfword-is-a-byte": (
        "last_stage", "(1 << (1 << size)) - 1", "(1 << max(1, size * size)) - 1"
    ),
    "word-keeps-its-offset": ("last_stage", "Cat(Const(0, 2), address[2:])", "address"),
})  # fmt: skip
DESCRIPTOR_TAP_BUGS = tap_bugs({
    "copy-is-from-before-the-store": (
        "descriptor_tap", "operation.address.eq(shadow[name])",
        "operation.address.eq(Signal(32, name=name))",
    ),
    "polling-is-a-sync": (
        "descriptor_tap", "== registers.status) & is_done", "== registers.status)"
    ),
    "store-to-status-is-a-sync": (
        "descriptor_tap", "reads & (access.address == registers.status)",
        "access.valid & (access.address == registers.status)",
    ),
    "load-of-start-starts": (
        "descriptor_tap", "writes & (access.address == registers.start)",
        "access.valid & (access.address == registers.start)",
    ),
    "every-start-writes": ("descriptor_tap", "starts & (access.data & mask).any()", "starts"),
    "engine-is-the-first": (
        "descriptor_tap", "operation.engine.eq(self._engine), operation.address",
        "operation.engine.eq(0), operation.address",
    ),
})  # fmt: skip
