// Functions of the C library that take texts apart or copy them, besides those of strings.c.
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "library.h"

// A token of a text: its end is written, if it is not that of the text, and where the next begins.
static char *token(char *text, const char *set, char **rest, uint32_t pc) {
    char *begin = text ? text : *rest, *found = strtok_r(text, set, rest);
    char *end = found ? found + strlen(found) : begin ? begin + strlen(begin) : NULL;
    if (begin) racetrap_library_range(LOAD, begin, end - begin + 1, pc);
    if (found && *rest > end) racetrap_library_range(STORE, end, 1, pc);
    return found;
}

EXPORT char *__wrap_strtok_r(char *text, const char *set, char **rest) {
    char *found = token(text, set, rest, CALLER);
    if (!text) READ_OBJECT(rest);
    WRITTEN_OBJECT(rest);
    return found;
}

// Where the next token begins belongs to all threads.
EXPORT char *__wrap_strtok(char *text, const char *set) {
    static char *rest;
    char *found = token(text, set, &rest, CALLER);
    if (!text) READ(&rest, sizeof rest);
    WRITTEN(&rest, sizeof rest);
    return found;
}

EXPORT char *__wrap_strsep(char **text, const char *set) {
    READ_OBJECT(text);
    if (!*text) return NULL;
    char *found = strsep(text, set);
    READ(found, strlen(found) + 1);
    if (*text) WRITTEN(*text - 1, 1);
    WRITTEN_OBJECT(text);
    return found;
}

WRAPPER(void *, memccpy, (void *to, const void *from, int last, size_t size),
        (to, from, last, size), size_t bytes = result ? (size_t)((char *)result - (char *)to) : size;
        READ(from, bytes); WRITTEN(to, bytes))
WRAPPER(char *, stpncpy, (char *to, const char *from, size_t size), (to, from, size),
        size_t letters = result - to; READ(from, letters + (letters < size)); WRITTEN(to, size))
WRAPPER(size_t, strxfrm, (char *to, const char *from, size_t size), (to, from, size),
        READ_TEXT(from); if (result < size) WRITTEN(to, result + 1))

EXPORT void __wrap_explicit_bzero(void *to, size_t size) {
    WRITTEN(to, size);
    explicit_bzero(to, size);
}

EXPORT void __wrap_bcopy(const void *from, void *to, size_t size) {
    READ(from, size);
    WRITTEN(to, size);
    memmove(to, from, size);
}

EXPORT void __wrap_swab(const void *from, void *to, ssize_t size) {
    if (size > 0) {
        READ(from, size & ~1);
        WRITTEN(to, size & ~1);
    }
    swab(from, to, size);
}
