# Where each warp of a block begins: a stack for each lane, then the kernel, then the end of the warp.
    .section .text.start
    .globl _start
_start:
    csrr t0, 0xF14          # lane and warp slot of the core
    slli t0, t0, 12
    li sp, 0x80080000
    sub sp, sp, t0
    csrr a0, 0x340          # argument of the launch
    csrr t0, 0xCE1          # the kernel
    jalr ra, 0(t0)
    .insn r 0x0b, 0, 0, x0, x0, x0
