// Functions of the C library that access the program's memory: the linker redirects the program's
// calls to ours (--wrap); the library's own calls stay as they are.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "library.h"

// Wrapper `name`: what it accesses is recorded before the call where that is known before.
#define WRAP(type, name, parameters, arguments, before, after) \
    type __real_##name parameters;                             \
    EXPORT type __wrap_##name parameters {                     \
        before;                                                \
        type result = __real_##name arguments;                 \
        after;                                                 \
        return result;                                         \
    }

WRAP(size_t, strlen, (const char *in), (in), , READ(in, result + 1))
WRAP(void *, memset, (void *to, int byte, size_t size), (to, byte, size), WRITTEN(to, size), )
WRAP(void *, memcpy, (void *to, const void *from, size_t size), (to, from, size),
     READ(from, size); WRITTEN(to, size), )
WRAP(void *, memmove, (void *to, const void *from, size_t size), (to, from, size),
     READ(from, size); WRITTEN(to, size), )
WRAP(void *, mempcpy, (void *to, const void *from, size_t size), (to, from, size),
     READ(from, size); WRITTEN(to, size), )

// How far a comparison or a search looks depends on what it finds.
static size_t common(const char *one, const char *other, size_t most, int is_text) {
    size_t at = 0;
    while (at < most && one[at] == other[at] && !(is_text && !one[at])) at++;
    return at < most ? at + 1 : most;
}

#define BOTH(most, is_text)                        \
    size_t seen = common(one, other, most, is_text); \
    READ(one, seen);                               \
    READ(other, seen)

WRAP(int, memcmp, (const void *one, const void *other, size_t size), (one, other, size),
     BOTH(size, 0), )
WRAP(int, strcmp, (const char *one, const char *other), (one, other), BOTH(SIZE_MAX, 1), )
WRAP(int, strncmp, (const char *one, const char *other, size_t most), (one, other, most),
     BOTH(most, 1), )

WRAP(void *, memchr, (const void *in, int byte, size_t size), (in, byte, size), ,
     READ(in, result ? (size_t)((char *)result - (char *)in) + 1 : size))
WRAP(char *, strchr, (const char *in, int byte), (in, byte), ,
     READ(in, result ? (size_t)(result - in) + 1 : __real_strlen(in) + 1))
WRAP(char *, strrchr, (const char *in, int byte), (in, byte), READ(in, __real_strlen(in) + 1), )

WRAP(char *, strcpy, (char *to, const char *from), (to, from),
     size_t size = __real_strlen(from) + 1; READ(from, size); WRITTEN(to, size), )
WRAP(char *, stpcpy, (char *to, const char *from), (to, from),
     size_t size = __real_strlen(from) + 1; READ(from, size); WRITTEN(to, size), )
WRAP(char *, strncpy, (char *to, const char *from, size_t most), (to, from, most),
     size_t size = strnlen(from, most); READ(from, size < most ? size + 1 : size);
     WRITTEN(to, most), )
WRAP(char *, strcat, (char *to, const char *from), (to, from),
     size_t old = __real_strlen(to); size_t size = __real_strlen(from) + 1; READ(to, old + 1);
     READ(from, size); WRITTEN(to + old, size), )
WRAP(char *, strncat, (char *to, const char *from, size_t most), (to, from, most),
     size_t old = __real_strlen(to); size_t size = strnlen(from, most); READ(to, old + 1);
     READ(from, size < most ? size + 1 : size); WRITTEN(to + old, size + 1), )

WRAP(char *, strdup, (const char *from), (from), , if (result) {
    READ(from, __real_strlen(from) + 1);
    WRITTEN(result, __real_strlen(from) + 1);
})

WRAP(char *, strndup, (const char *from, size_t most), (from, most), , if (result) {
    size_t size = __real_strlen(result);
    READ(from, size < most ? size + 1 : size);
    WRITTEN(result, size + 1);
})

WRAP(size_t, strnlen, (const char *in, size_t most), (in, most), ,
     READ(in, result < most ? result + 1 : most))
WRAP(void *, memrchr, (const void *in, int byte, size_t size), (in, byte, size), ,
     size_t before = result ? (size_t)((char *)result - (char *)in) : 0;
     READ((char *)in + before, size - before))
WRAP(char *, strchrnul, (const char *in, int byte), (in, byte), , READ(in, result - in + 1))
WRAP(char *, strstr, (const char *in, const char *text), (in, text), ,
     size_t size = __real_strlen(text) + 1; READ(text, size);
     READ(in, result ? (size_t)(result - in) + size - 1 : __real_strlen(in) + 1))
WRAP(size_t, strspn, (const char *in, const char *set), (in, set), ,
     READ(set, __real_strlen(set) + 1); READ(in, result + 1))
WRAP(size_t, strcspn, (const char *in, const char *set), (in, set), ,
     READ(set, __real_strlen(set) + 1); READ(in, result + 1))
WRAP(char *, strpbrk, (const char *in, const char *set), (in, set), ,
     READ(set, __real_strlen(set) + 1);
     READ(in, result ? (size_t)(result - in) + 1 : __real_strlen(in) + 1))

void __real_bzero(void *to, size_t size);

EXPORT void __wrap_bzero(void *to, size_t size) {
    WRITTEN(to, size);
    __real_bzero(to, size);
}
