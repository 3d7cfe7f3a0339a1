/* A pipeline that stores each distinct chunk of a stream once: one thread cuts the stream, most
 * look chunks up and pack those that are new, one puts them in order again.
 *
 * Sharing: two bounded queues (mutex and two condition variables), a hash table with a lock in each
 * bucket; packed data goes from the thread that packs to the one that writes.
 * Races: none.
 */
#include <string.h>

#include "program.h"

enum { BUCKETS = 64, LONGEST = 64, SEGMENTS = 12, SEGMENT = 96 };

/* A distinct chunk; its first finder packs it, others wait for that. */
struct packed {
    struct packed *next;
    const unsigned char *text;
    int length, packed_length, is_ready;
    unsigned char *bytes; /* pairs of count and value */
};

struct chunk {
    int number, length;
    const unsigned char *text;
    struct packed *packed;
};

struct bucket {
    pthread_mutex_t lock;
    pthread_cond_t packed;
    struct packed *first;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    struct chunk **chunks;
    int capacity, put, taken, producers;
};

static unsigned char *text;
static struct bucket buckets[BUCKETS];
static struct queue cut_queue, packed_queue;
static struct packed **stored; /* of each chunk, in order */
static int chunks_stored;

static void start_queue(struct queue *queue, int producers)
{
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    pthread_cond_init(&queue->not_full, NULL);
    queue->capacity = threads < 3 ? size : 16; /* stages of one thread follow each other */
    queue->chunks = allocate(queue->capacity, sizeof *queue->chunks);
    queue->producers = producers;
}

static void put_chunk(struct queue *queue, struct chunk *chunk)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->put - queue->taken == queue->capacity)
        pthread_cond_wait(&queue->not_full, &queue->lock);
    queue->chunks[queue->put++ % queue->capacity] = chunk;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

/* The next chunk, or NULL when all producers have finished and all is taken. */
static struct chunk *take_chunk(struct queue *queue)
{
    struct chunk *chunk = NULL;
    pthread_mutex_lock(&queue->lock);
    while (queue->put == queue->taken && queue->producers > 0)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    if (queue->put > queue->taken) {
        chunk = queue->chunks[queue->taken++ % queue->capacity];
        pthread_cond_signal(&queue->not_full);
    }
    pthread_mutex_unlock(&queue->lock);
    return chunk;
}

static void finish(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->producers--;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

/* Chunks end where a hash of the last bytes says so, so that equal text gives equal chunks. */
static void cut(void)
{
    int begin = 0, number = 0;
    uint32_t hash = 0;
    for (int at = 0; at < size; at++) {
        hash = (hash << 4) + text[at] * 0x9e3779b1u;
        int length = at + 1 - begin;
        if ((hash >> 27) != 0 && length < LONGEST && at + 1 < size)
            continue;
        struct chunk *chunk = allocate(1, sizeof *chunk);
        chunk->number = number++;
        chunk->text = text + begin;
        chunk->length = length;
        put_chunk(&cut_queue, chunk);
        begin = at + 1;
        hash = 0;
    }
    finish(&cut_queue);
}

static struct bucket *bucket_of(const unsigned char *bytes, int length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < length; i++)
        hash = mixed(hash, bytes[i]);
    return &buckets[(hash >> 20) % BUCKETS];
}

static void pack(struct packed *packed)
{
    unsigned char *bytes = allocate(2, packed->length);
    int used = 0;
    for (int i = 0; i < packed->length; i++) {
        if (used == 0 || bytes[used - 1] != packed->text[i]) {
            bytes[used++] = 0;
            bytes[used++] = packed->text[i];
        }
        bytes[used - 2]++;
    }
    packed->bytes = bytes;
    packed->packed_length = used;
}

static int is_same(const struct packed *packed, const struct chunk *chunk)
{
    return packed->length == chunk->length &&
           memcmp(packed->text, chunk->text, (size_t)chunk->length) == 0;
}

/* Entry of a chunk in its bucket; whether it is new. */
static int look_up(struct bucket *bucket, struct chunk *chunk)
{
    int is_new = 0;
    pthread_mutex_lock(&bucket->lock);
    struct packed *entry = bucket->first;
    for (; entry != NULL && !is_same(entry, chunk); entry = entry->next)
        continue;
    if (entry == NULL) {
        entry = allocate(1, sizeof *entry);
        entry->text = chunk->text;
        entry->length = chunk->length;
        entry->next = bucket->first;
        bucket->first = entry;
        is_new = 1;
    }
    chunk->packed = entry;
    pthread_mutex_unlock(&bucket->lock);
    return is_new;
}

static void pack_chunks(void)
{
    for (struct chunk *chunk; (chunk = take_chunk(&cut_queue)) != NULL;) {
        struct bucket *bucket = bucket_of(chunk->text, chunk->length);
        if (look_up(bucket, chunk)) {
            pack(chunk->packed);
            pthread_mutex_lock(&bucket->lock);
            chunk->packed->is_ready = 1;
            pthread_cond_broadcast(&bucket->packed);
            pthread_mutex_unlock(&bucket->lock);
        }
        put_chunk(&packed_queue, chunk);
    }
    finish(&packed_queue);
}

static void store_chunks(void)
{
    for (struct chunk *chunk; (chunk = take_chunk(&packed_queue)) != NULL;) {
        struct bucket *bucket = bucket_of(chunk->text, chunk->length);
        pthread_mutex_lock(&bucket->lock);
        while (!chunk->packed->is_ready)
            pthread_cond_wait(&bucket->packed, &bucket->lock);
        pthread_mutex_unlock(&bucket->lock);
        stored[chunk->number] = chunk->packed;
        chunks_stored++;
        free(chunk);
    }
}

static void work(int self)
{
    if (self == 0)
        cut();
    if (threads < 3 ? self == 0 : self < threads - 1)
        pack_chunks();
    if (self == threads - 1)
        store_chunks();
}

/* What was stored unpacks to the text. */
CHECK_ONLY static void check(void)
{
    uint64_t checksum = (uint64_t)chunks_stored;
    int at = 0;
    for (int number = 0; number < chunks_stored; number++) {
        const struct packed *packed = stored[number];
        for (int i = 0; i < packed->packed_length; i += 2)
            for (int count = packed->bytes[i]; count > 0; count--)
                if (at == size || text[at++] != packed->bytes[i + 1])
                    fail("a chunk does not unpack to its text");
        checksum = mixed(checksum, (uint64_t)packed->packed_length);
    }
    if (at != size)
        fail("chunks are missing");
    print_result(checksum);
}

/* Text that repeats: a few segments, in runs of equal letters, again and again. */
static void make_text(void)
{
    unsigned char segment[SEGMENTS][SEGMENT];
    uint64_t state = seed;
    for (int which = 0; which < SEGMENTS; which++)
        for (int i = 0; i < SEGMENT; i++) {
            int is_run = i > 0 && next_random(&state) % 4 != 0;
            segment[which][i] = is_run ? segment[which][i - 1] : 'a' + next_random(&state) % 20;
        }
    for (int at = 0; at < size;) {
        int which = (int)(next_random(&state) % SEGMENTS);
        for (int i = 0; i < SEGMENT && at < size; i++)
            text[at++] = segment[which][i];
    }
}

int main(int count, char **arguments)
{
    read_arguments(count, arguments, 1, 1 << 24);
    text = allocate(size, 1);
    stored = allocate(size, sizeof *stored);
    make_text();
    for (int i = 0; i < BUCKETS; i++) {
        pthread_mutex_init(&buckets[i].lock, NULL);
        pthread_cond_init(&buckets[i].packed, NULL);
    }
    start_queue(&cut_queue, 1);
    start_queue(&packed_queue, threads < 3 ? 1 : threads - 1);
    run_threads(work);
    check();
    return 0;
}
