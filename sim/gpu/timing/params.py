"""Parameters of the timing model of a GPU; the defaults are those of the ScoRD paper's GPU.

Ref: ScoRD (ISCA'20) Table V; the authors' configuration of their simulator for what it leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TimingParams:
    """GPU and detector of a run of the timing model.

    Parameters
    ----------
    sms, schedulers : int
        SMs, and warp schedulers of each; each issues one instruction a cycle.
    schedule : int
        0: a block begins as soon as it has its slot; n: up to 255 cycles later, of which each n
        makes others.
    core_mhz, dram_mhz : int
        Clocks: of cores, network and L2; of the DRAM.
    segment_log2 : int
        Log2 of the bytes that the coalescer makes an access, and a packet, of.
    l1_sets, l1_ways, l1_cycles, l1_mshrs, l1_merges : int
        L1 cache of 128-byte lines; cycles of a hit; segments in flight, and further loads that wait
        for one of them.
    header_bytes, flit_bytes, injection_packets, hop_cycles : int
        Network: bytes of a packet without data; bytes of a flit, one of which passes a port in a
        cycle; packets that wait in an SM; cycles between a port and the one it leads to.
    channels, slices_per_channel : int
        Memory channels, and L2 slices of each; they take turns every 256 bytes.
    l2_sets, l2_ways, l2_cycles, l2_mshrs, l2_merges : int
        A slice of the L2 cache, likewise; it takes one request a cycle.
    dram_queue, banks, bank_groups, row_bytes, dram_cycles : int
        Requests among which a channel chooses; its banks and groups of banks; bytes of a row; core
        cycles on the way back.
    t_rrd, t_rcd, t_ras, t_rp, t_rc, t_cl, t_wl, t_ccd, t_ccd_group, t_wr : int
        DRAM clocks between commands.
    detects : int
        1 if there is a detector.
    lhd, noc, md : int
        Costs that count: packets by which it receives L1 hits; identity of the warp in all other
        packets; accesses to metadata.
    identity_bytes : int
        Bytes of this identity.
    ratio : int
        Words that share an entry.
    shares_neighbours : int
        1 if these are neighbours, 0 if they lie a fraction of the region apart.
    merges_in_flight : int
        1 if accesses to entries that are being read take what is read.
    """

    sms: int = 15
    schedulers: int = 2
    schedule: int = 0
    core_mhz: int = 700
    dram_mhz: int = 924
    segment_log2: int = 5
    l1_sets: int = 32
    l1_ways: int = 4
    l1_cycles: int = 35
    l1_mshrs: int = 64
    l1_merges: int = 8
    header_bytes: int = 8
    flit_bytes: int = 40
    injection_packets: int = 8
    hop_cycles: int = 4
    channels: int = 12
    slices_per_channel: int = 2
    l2_sets: int = 64
    l2_ways: int = 8
    l2_cycles: int = 120
    l2_mshrs: int = 256
    l2_merges: int = 1 << 20
    dram_queue: int = 64
    banks: int = 16
    bank_groups: int = 4
    row_bytes: int = 2048
    dram_cycles: int = 100
    t_rrd: int = 6
    t_rcd: int = 12
    t_ras: int = 28
    t_rp: int = 12
    t_rc: int = 40
    t_cl: int = 12
    t_wl: int = 4
    t_ccd: int = 2
    t_ccd_group: int = 3
    t_wr: int = 12
    detects: int = 0
    lhd: int = 1
    noc: int = 1
    md: int = 1
    identity_bytes: int = 5
    ratio: int = 1
    shares_neighbours: int = 0
    merges_in_flight: int = 1
