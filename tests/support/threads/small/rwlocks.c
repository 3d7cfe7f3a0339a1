/* Reader-writer locks. */
#include "small.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int seen[2];

static void *read_first(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    seen[0] = data;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *read_second(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    seen[1] = data;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *change(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    data++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *change_as_reader(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    data++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void rwlock_readers(void)
{
    both(read_first, read_second);
}

static void rwlock_reader_and_writer(void)
{
    both(read_first, change);
}

static void rwlock_writers(void)
{
    both(change, change);
}

static void rwlock_changed_by_readers(void)
{
    both(change_as_reader, change_as_reader);
}

CASES(
    CASE(rwlock_readers, clean),
    CASE(rwlock_reader_and_writer, clean),
    CASE(rwlock_writers, clean),
    CASE(rwlock_changed_by_readers, racy),
)
