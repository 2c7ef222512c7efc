#include "models.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

long argument(int argc, char **argv, int index, const char *name, long least)
{
    if (index >= argc) {
        fprintf(stderr, "%s: argument %d is missing: %s\n", argv[0], index, name);
        exit(2);
    }
    char *end;
    errno = 0;
    long value = strtol(argv[index], &end, 10);
    if (errno != 0 || *end != '\0' || end == argv[index] || value < least) {
        fprintf(stderr, "%s: `%s` is no %s: give a whole number of at least %ld\n", argv[0], argv[index], name, least);
        exit(2);
    }
    return value;
}

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t busy(uint32_t seed, long work)
{
    uint32_t x = seed;
    for (long i = 1; i <= work; i++)
        x = x * 3 + (uint32_t)i;
    return x;
}

int32_t compute(int32_t value, long work)
{
    int32_t x = value;
    for (long i = 1; i <= work; i++) {
        uint32_t tripled = (uint32_t)x * 3;
        x = (int32_t)(tripled + (uint32_t)(x % (int32_t)i));
    }
    return x;
}

void check(int result, const char *what)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(result > 0 ? result : errno));
    exit(1);
}

long number_of(void *argument)
{
    return (long)(intptr_t)argument;
}

void run_threads(long count, void *(*body)(void *))
{
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    if (threads == NULL)
        check(ENOMEM, "threads");
    for (long i = 0; i < count; i++)
        check(pthread_create(&threads[i], NULL, body, (void *)(intptr_t)i), "pthread_create");
    for (long i = 0; i < count; i++)
        check(pthread_join(threads[i], NULL), "pthread_join");
    free(threads);
}

void must_be_cooperative(void)
{
    cpu_set_t processors;
    check(sched_getaffinity(0, sizeof processors, &processors), "sched_getaffinity");
    if (sched_getscheduler(0) == SCHED_FIFO && CPU_COUNT(&processors) == 1)
        return;
    fprintf(stderr, "a cooperative program needs FIFO scheduling on one processor: start it by `taskset 1 chrt --fifo 1`\n");
    exit(2);
}

void account(uint64_t began_ns)
{
    account_operations(began_ns, 0);
}

void account_operations(uint64_t began_ns, long operations)
{
    uint64_t elapsed = now_ns() - began_ns;
    printf("@@ run elapsed_ns=%" PRIu64, elapsed);
    if (operations > 0)
        printf(" operations=%ld", operations);
    putchar('\n');
}
