"""Blocks of SigRace that are synthesised on their own.

Ref: SigRace (ISCA'09) Section 3, Fig. 5.
"""

from __future__ import annotations

from functools import partial

from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.sigrace.address_set import AddressSet
from racetrap.rtl.sigrace.compressor import Compressor
from racetrap.rtl.sigrace.conflict_log import ConflictLog
from racetrap.rtl.sigrace.core_state import CoreState
from racetrap.rtl.sigrace.core_to_thread import CoreToThread
from racetrap.rtl.sigrace.core_unit import CoreUnit
from racetrap.rtl.sigrace.decompressor import Decompressor
from racetrap.rtl.sigrace.history_queue import HistoryQueues
from racetrap.rtl.sigrace.intersection import Intersection
from racetrap.rtl.sigrace.rdm import Rdm
from racetrap.rtl.sigrace.registers import compile_registers
from racetrap.rtl.sigrace.scanner import Scanner
from racetrap.rtl.sigrace.search import Search
from racetrap.rtl.sigrace.signature_bank import SignatureBank
from racetrap.rtl.sigrace.system import SigraceSystem
from racetrap.rtl.sigrace.trap_check import TrapCheck


def blocks(params: SigraceParams) -> list[HardwareBlock]:
    """Blocks of SigRace, each followed by its parts; the whole system comes last."""
    units = params.cores * params.contexts
    is_hashed = params.form is Form.HASHED
    sets = "signature_bank" if is_hashed else "address_set"
    queues = -(-params.threads // params.scanners)  # of the largest memory
    make_sets = partial(SignatureBank if is_hashed else AddressSet, params)
    return [
        HardwareBlock("core_unit", partial(CoreUnit, params), units),
        HardwareBlock(sets, make_sets, 2 * units),
        HardwareBlock("core_state", partial(CoreState, params), units),
        HardwareBlock("trap_check", partial(TrapCheck, params), units),
        HardwareBlock("compressor", partial(Compressor, params), units),
        HardwareBlock("rdm", partial(Rdm, params), 1),
        HardwareBlock("decompressor", partial(Decompressor, params), params.decompressors),
        HardwareBlock("core_to_thread", partial(CoreToThread, params), 1),
        HardwareBlock("search", partial(Search, params), 1),
        HardwareBlock("history_queues", partial(HistoryQueues, params, queues), params.scanners),
        HardwareBlock("scanner", partial(Scanner, params), params.scanners),
        HardwareBlock("intersection", partial(Intersection, params), params.scanners),
        HardwareBlock("conflict_log", partial(ConflictLog, params), 1),
        HardwareBlock("registers", partial(RegisterBlock, compile_registers(params)), 1),
        HardwareBlock("system", partial(SigraceSystem, params), 1, is_large=True),
    ]
