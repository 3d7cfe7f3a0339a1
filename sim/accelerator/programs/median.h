// Median of several vectors, element by element, by bubble sort.
#pragma once

#include <vbx.h>

// Sorts up to the middle one, which holds the median afterwards.
static inline void sort_to_median(vbx_mode mode, vbx_sp_t **vectors, int number, vbx_sp_t *spare)
{
    for (int end = number - 1; end >= number / 2; end--)
        for (int at = 0; at < end; at++) {
            vbx(mode, VMIN, spare, (intptr_t)vectors[at], vectors[at + 1]);
            vbx(mode, VMAX, vectors[at + 1], (intptr_t)vectors[at], vectors[at + 1]);
            vbx(mode, VMOV, vectors[at], (intptr_t)spare, NULL);
        }
}
