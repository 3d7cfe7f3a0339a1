// Calls of threads: trees of frames, and functions that are left without a return.
#define _GNU_SOURCE
#include "calls.h"

#include <setjmp.h>
#include <sys/mman.h>

void racetrap_prepare_calls(void) {
    void *tree = mmap(NULL, sizeof(struct call_tree), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (tree == MAP_FAILED) racetrap_die("Calls of a thread cannot be mapped");
    self.tree = tree;
    self.tree->count = 1;
}

uint32_t racetrap_find_frame(uint32_t call, uint32_t function) {
    struct frame *frames = self.tree->frames, *caller = &frames[self.frame];
    if (self.unknown_frames) {
        racetrap_lose(UNKNOWN_FRAMES, 1);
        return 0;
    }
    enter_runtime();  // no handler's callee may come in between
    uint32_t found = caller->first;
    while (found && (frames[found].call != call || frames[found].function != function))
        found = frames[found].next;
    if (!found && self.tree->count < MOST_FRAMES && !self.is_ended) {
        found = self.tree->count++;
        frames[found] = (struct frame){self.frame, call, function, 0, 0, caller->first};
        caller->first = found;
        racetrap_record_frame(self.frame, call, function);
    }
    if (found) caller->latest = found;
    else if (!self.is_ended) racetrap_lose(UNKNOWN_FRAMES, 1);
    leave_runtime();
    return found;
}

// longjmp() leaves functions without a return: all whose part of the stack lies below that of the
// function that it goes to.
static void unwind(struct __jmp_buf_tag *target) {
    if (!self.tree) return;
    // As the C library keeps the stack pointer: rotated, and mixed with a secret of the process.
    uintptr_t stack = target->__jmpbuf[6];
    __asm__("ror $17, %0\n\txor %%fs:48, %0" : "+r"(stack));
    while (self.calls && (self.calls > MOST_CALLS || self.tree->stack[self.calls - 1] < stack))
        racetrap_leave_function();
}

#define JUMP(name)                                                                            \
    EXPORT __attribute__((noreturn)) void name(struct __jmp_buf_tag target[1], int value) {  \
        unwind(target);                                                                       \
        ((void (*)(struct __jmp_buf_tag *, int))racetrap_real(#name, NULL))(target, value);   \
        __builtin_unreachable();                                                              \
    }

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
