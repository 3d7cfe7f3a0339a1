// Formats of printf() and scanf(): the accesses that their arguments stand for.
#define _GNU_SOURCE
#include "formats.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define NONE (-1)
#define ARGUMENT (-2)  // the number is an argument of its own

struct conversion {
    int is_suppressed, is_allocated;  // of scanf: `*` and `m`
    long width, precision;
    char length;  // its last letter, H for hh, Q for ll; 0: none
    char letter;  // 0: not understood
};

static const char *number(const char *at, long *value) {
    char *end;
    if (*at == '*') {
        *value = ARGUMENT;
        return at + 1;
    }
    *value = strtol(at, &end, 10);
    if (end == at) *value = NONE;
    return end;
}

// The next conversion from `at` on, and what lies behind it; NULL: there is none.
static const char *next(const char *at, int scans, struct conversion *found) {
    for (; (at = strchr(at, '%')); at += 2)
        if (at[1] != '%') break;
    if (!at) return NULL;
    *found = (struct conversion){.width = NONE, .precision = NONE};
    at++;
    if (scans && *at == '*') found->is_suppressed = *at++;
    at += strspn(at, scans ? "'I" : "-+ #0'I");
    at = number(at, &found->width);
    if (*at == '.') {
        at = number(at + 1, &found->precision);
        if (found->precision == NONE) found->precision = 0;
    }
    if (scans && *at == 'm') found->is_allocated = *at++;
    size_t letters = strspn(at, "hlLqjzZt");
    if (letters) found->length = letters == 1 ? *at : *at == 'h' ? 'H' : 'Q';
    at += letters;
    if (!*at) return at;
    found->letter = *at++;
    if (scans && found->letter == '[') {
        at += *at == '^';
        at += *at == ']';
        at = strchr(at, ']') ?: at + strlen(at) - 1;
        at++;
    }
    return at;
}

static int is_wide(const struct conversion *each) {
    return each->length == 'l' || each->letter == 'S' || each->letter == 'C';
}

static unsigned integer_bytes(char length) {
    switch (length) {
    case 'H': return 1;
    case 'h': return 2;
    case 0: return 4;
    default: return 8;
    }
}

static unsigned float_bytes(char length) {
    return length == 'L' || length == 'Q' ? sizeof(long double) : length == 'l' ? 8 : 4;
}

// A string without an end is read as far as the precision says.
static void read_string(const void *text, const struct conversion *each, long most, uint32_t pc) {
    size_t limit = most < 0 ? SIZE_MAX / sizeof(wchar_t) : (size_t)most;
    if (!text) return;
    if (is_wide(each)) {
        size_t letters = wcsnlen(text, limit);
        racetrap_library_range(LOAD, text, (letters + (letters < limit)) * sizeof(wchar_t), pc);
    } else {
        size_t letters = strnlen(text, limit);
        racetrap_library_range(LOAD, text, letters + (letters < limit), pc);
    }
}

void racetrap_printed(const char *format, va_list arguments, uint32_t pc) {
    struct conversion each;
    if (!is_recording()) return;
    while ((format = next(format, 0, &each))) {
        if (each.width == ARGUMENT) (void)va_arg(arguments, int);
        long precision = each.precision == ARGUMENT ? va_arg(arguments, int) : each.precision;
        switch (each.letter) {
        case 'd': case 'i': case 'o': case 'u': case 'x': case 'X': case 'b': case 'B':
            if (integer_bytes(each.length) == 8) (void)va_arg(arguments, long);
            else (void)va_arg(arguments, int);
            break;
        case 'c': case 'C':
            if (is_wide(&each)) (void)va_arg(arguments, wint_t);
            else (void)va_arg(arguments, int);
            break;
        case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
            if (float_bytes(each.length) == sizeof(long double)) (void)va_arg(arguments, long double);
            else (void)va_arg(arguments, double);
            break;
        case 's': case 'S': read_string(va_arg(arguments, void *), &each, precision, pc); break;
        case 'p': (void)va_arg(arguments, void *); break;
        case 'n':
            racetrap_library_range(STORE, va_arg(arguments, void *), integer_bytes(each.length), pc);
            break;
        case 'm': break;
        default: racetrap_lose(FORMATS, 1); return;  // numbered arguments, own conversions
        }
    }
}

// Bytes that a conversion has written.
static size_t scanned_bytes(const struct conversion *each, const void *to) {
    switch (each->letter) {
    case 'd': case 'i': case 'o': case 'u': case 'x': case 'X': case 'b': case 'n':
        return integer_bytes(each->length);
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
        return float_bytes(each->length);
    case 'p': return sizeof(void *);
    case 'c': case 'C':
        return (each->width < 1 ? 1 : each->width) * (is_wide(each) ? sizeof(wchar_t) : 1);
    case 's': case 'S': case '[':
        return is_wide(each) ? (wcslen(to) + 1) * sizeof(wchar_t) : strlen(to) + 1;
    default: return 0;
    }
}

void racetrap_scanned(const char *format, va_list arguments, int assigned, uint32_t pc) {
    struct conversion each;
    if (!is_recording()) return;
    while ((format = next(format, 1, &each))) {
        if (each.is_suppressed) continue;
        // Behind the last successful conversion, only `%n` can have been written.
        if (each.letter != 'n' && assigned-- <= 0) return;
        void *to = va_arg(arguments, void *);
        if (each.is_allocated) {
            racetrap_library_range(STORE, to, sizeof(void *), pc);
            to = *(void **)to;
        }
        size_t bytes = scanned_bytes(&each, to);
        if (!bytes) {
            racetrap_lose(FORMATS, 1);
            return;
        }
        racetrap_library_range(STORE, to, bytes, pc);
    }
}
