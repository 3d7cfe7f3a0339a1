// Calls of a thread: which functions of the program it is in.
//
// The functions form a tree; the thread is at one node of it, a frame.  A frame is put into the
// records when it is met first; which one the thread is in, only before an access in another frame
// than that of the access before.
#ifndef CALLS_H
#define CALLS_H

#include "regions.h"

struct frame {
    uint32_t caller;          // 0: no function of the program, the frame outside all
    uint32_t call, function;  // return addresses: of the call, and one in the function
    uint32_t latest;          // its callee that was called latest; 0: none
    uint32_t first, next;     // of its callees; of its caller's
};

#define MOST_FRAMES (1u << 18)  // of a thread; deeper ones are not recorded
#define MOST_CALLS (1u << 20)   // whose places on the stack are known

struct call_tree {
    struct frame frames[MOST_FRAMES];
    uint32_t count;
    uintptr_t stack[MOST_CALLS];  // where each function that the thread is in has its own part
};

// Gives the calling thread its tree.
void racetrap_prepare_calls(void);

// Number of a callee of the thread's frame that was not called latest; 0 if there is no room for it.
uint32_t racetrap_find_frame(uint32_t call, uint32_t function);

// A thread is in a region from the call of such a function until that call returns.
static inline void racetrap_enter_function(uint32_t call, uint32_t function,
                                           uintptr_t stack) {
    struct call_tree *tree = self.tree;
    if (!LIKELY(tree != NULL)) return;
    // A handler that runs in between restores all that it changes.
    uint64_t depth = self.calls++;
    if (LIKELY(depth < MOST_CALLS)) tree->stack[depth] = stack;
    uint32_t callee = tree->frames[self.frame].latest;
    if (!LIKELY(callee && tree->frames[callee].call == call &&
                tree->frames[callee].function == function))
        callee = racetrap_find_frame(call, function);
    if (LIKELY(callee)) self.frame = callee;
    else self.unknown_frames++;
    if (!LIKELY(!(self.unusual & OUTSIDE)) && racetrap_is_in_region(function)) {
        self.region = self.calls;
        self.unusual &= ~OUTSIDE;
    }
    self.unusual |= IN_OTHER_FRAME;
}

static inline void racetrap_leave_function(void) {
    if (!LIKELY(self.calls)) return;
    if (!LIKELY(!self.region) && self.region == self.calls) {
        self.region = 0;
        self.unusual |= OUTSIDE;
    }
    self.calls--;
    if (!LIKELY(!self.unknown_frames)) self.unknown_frames--;
    else self.frame = self.tree->frames[self.frame].caller;
    self.unusual |= IN_OTHER_FRAME;
}

#endif
