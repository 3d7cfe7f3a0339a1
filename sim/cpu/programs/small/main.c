/* Runs the small program that is named. */
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "small.h"

int data;

#define ENTRY(name, verdict) {#name, name},

static const struct {
    const char *name;
    void (*run)(void);
} entries[] = {CASES(ENTRY)};

int main(int count, char **arguments)
{
    for (size_t i = 0; count == 2 && i < sizeof entries / sizeof *entries; i++)
        if (strcmp(arguments[1], entries[i].name) == 0) {
            entries[i].run();
            return 0;
        }
    fprintf(stderr, "usage: %s NAME, one of cases.h\n", arguments[0]);
    return 1;
}
