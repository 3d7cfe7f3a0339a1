// Accesses arrays with the CPU alone, for measuring the recorder of programs with accelerators.
// Arguments: number of passes; words from one access to the next.  Each pass loads WORDS words of
// one array and stores as many of another; neighbouring words become one record.

#include <stdlib.h>

enum { WORDS = 4096, FARTHEST = 64 };

// Not static: the compiler must not see that nothing else uses them.
int source[WORDS * FARTHEST], target[WORDS * FARTHEST];

int main(int count, char **arguments) {
    int passes = count > 1 ? atoi(arguments[1]) : 1, step = count > 2 ? atoi(arguments[2]) : 1;
    if (step < 1 || step > FARTHEST) return 2;
    for (int pass = 0; pass < passes; pass++)
        for (int word = 0; word < WORDS; word++)
            target[word * step] = source[word * step] ^ pass;
    return 0;
}
