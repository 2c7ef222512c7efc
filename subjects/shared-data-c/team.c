#include "shared.h"

#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

atomic_bool time_is_up;

static sem_t ready; /* counts tasks that wait for the start */
static pthread_barrier_t start;
static void (*work_of_all)(struct task *task);

static uint64_t read_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

static void *body(void *task)
{
    sem_post(&ready);
    pthread_barrier_wait(&start);
    work_of_all(task);
    return NULL;
}

uint64_t run_tasks(unsigned tasks, uint64_t time_ms, void (*work)(struct task *task), struct task *done)
{
    pthread_t thread[TASKS_MOST];
    struct timespec time = {.tv_sec = (time_t)(time_ms / 1000), .tv_nsec = (long)(time_ms % 1000) * 1000000};
    work_of_all = work;
    sem_init(&ready, 0, 0);
    pthread_barrier_init(&start, NULL, tasks + 1);
    for (unsigned i = 0; i < tasks; i++) {
        done[i] = (struct task){.number = i, .random = 88172645463325252u + i * UINT64_C(0x9E3779B97F4A7C15)};
        if (pthread_create(&thread[i], NULL, body, &done[i]) != 0)
            fail("task %u could not be started", i + 1);
    }
    for (unsigned i = 0; i < tasks; i++)
        while (sem_wait(&ready) != 0) /* a signal came */
            ;
    /* Before the start: after it tasks work already, while this thread may have to wait for a processor. */
    uint64_t began_ns = now_ns(), used_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID);
    pthread_barrier_wait(&start);
    nanosleep(&time, NULL);
    uint64_t elapsed_ns = now_ns() - began_ns; /* what a task does after this is less than one look's */
    atomic_store(&time_is_up, true);
    for (unsigned i = 0; i < tasks; i++)
        pthread_join(thread[i], NULL);
    printf("@@ run cpu_ns=%" PRIu64 "\n", read_ns(CLOCK_PROCESS_CPUTIME_ID) - used_ns);
    return elapsed_ns;
}
