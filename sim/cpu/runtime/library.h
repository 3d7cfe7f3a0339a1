// What wrappers of the C library's functions share: the program's accesses that they make.
#ifndef LIBRARY_H
#define LIBRARY_H

#include "record.h"

// In a wrapper itself: its caller is the place of the access.
#define READ(address, bytes) racetrap_library_range(LOAD, address, bytes, CALLER)
#define WRITTEN(address, bytes) racetrap_library_range(STORE, address, bytes, CALLER)
#define READ_OBJECT(pointer) ((pointer) ? READ(pointer, sizeof *(pointer)) : (void)0)
#define WRITTEN_OBJECT(pointer) ((pointer) ? WRITTEN(pointer, sizeof *(pointer)) : (void)0)
#define READ_TEXT(text) READ(text, strlen(text) + 1)
#define WRITTEN_TEXT(text) WRITTEN(text, strlen(text) + 1)

// Wrapper of a function, which does something after the call with its result.
#define WRAPPER(type, name, parameters, arguments, after)  \
    EXPORT type __wrap_##name parameters {                 \
        type result = REAL(name) arguments;                \
        after;                                             \
        return result;                                     \
    }

#endif
