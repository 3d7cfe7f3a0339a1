// Reads and writes arrays in one thread beside the first, for measuring the recorder.
// Each pass loads a word of one array and stores one of another.  Argument: number of passes.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 4096

// Not static: the compiler must not know that nobody else uses them.
int source[WORDS], target[WORDS];
static int passes;

static void *work(void *unused) {
    for (int pass = 0; pass < passes; pass++)
        for (int word = 0; word < WORDS; word++)
            target[word] = source[word] ^ pass;
    return unused;
}

int main(int count, char **arguments) {
    passes = count > 1 ? atoi(arguments[1]) : 1;
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL) || pthread_join(worker, NULL)) {
        fprintf(stderr, "Thread must start and end\n");
        return 1;
    }
    return 0;
}
