# First instruction of the firmware: memory is filled before, so nothing has to be cleared.
    .section .text.start
    .globl _start
_start:
    la sp, stack_end
    lw a0, arguments
    la a1, arguments + 4
    call main
    call exit
