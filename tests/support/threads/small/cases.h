/* List of the cases of a small program.  The argument of a program is the case's name. */
#pragma once

#include <stdio.h>
#include <string.h>

struct small_case {
    const char *name;
    void (*run)(void);
};

/* One case; the verdict, clean or racy, is read from the source by the catalogue. */
#define CASE(name, verdict) {#name, name}

static inline int run_case(const struct small_case *cases, size_t count, int words, char **word)
{
    for (size_t i = 0; words == 2 && i < count; i++)
        if (strcmp(word[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "%s: argument is one of the cases at its end\n", word[0]);
    return 1;
}

/* The main function of a program with these cases. */
#define CASES(...)                                                                      \
    int main(int count, char **arguments)                                               \
    {                                                                                   \
        static const struct small_case cases[] = {__VA_ARGS__};                         \
        return run_case(cases, sizeof cases / sizeof *cases, count, arguments);         \
    }
