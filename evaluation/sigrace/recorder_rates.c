// Reads and writes arrays in threads beside the first, for measuring the recorder.
// Each pass loads a word of one array and stores one of another.  Arguments: number of passes, and
// of threads, which race if there are several.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 4096
#define MOST_THREADS 8

// Not static: the compiler must not see that nothing else uses them.
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
    int threads = count > 2 ? atoi(arguments[2]) : 1, failed = threads > MOST_THREADS;
    pthread_t workers[MOST_THREADS];
    for (int i = 0; i < threads && !failed; i++)
        failed = pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < threads && !failed; i++) failed = pthread_join(workers[i], NULL);
    if (failed) fprintf(stderr, "Threads must start and end, and be at most %d\n", MOST_THREADS);
    return failed;
}
