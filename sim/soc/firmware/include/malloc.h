// Sizes of blocks on the target's heap.
#pragma once
#include <stddef.h>
size_t malloc_usable_size(void *address);
