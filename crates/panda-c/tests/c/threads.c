/* Threads of either kind, and their synchronization. */
#include "check.h"
#include <unistd.h>

static struct shared {
    panda_mutex *mutex;
    panda_condition *condition;
    panda_semaphore *semaphore;
    panda_barrier *barrier;
    int sum, lasts, is_open;
} shared;

static void *adds(void *context)
{
    int *number = context;
    for (int round = 0; round < 100; round++) {
        OK(panda_mutex_lock(shared.mutex));
        int before = shared.sum;
        panda_thread_yield();
        shared.sum = before + *number;
        OK(panda_mutex_unlock(shared.mutex));
    }
    OK(panda_mutex_lock(shared.mutex));
    while (!shared.is_open)
        OK(panda_condition_wait(shared.condition, shared.mutex, PANDA_FOREVER));
    OK(panda_mutex_unlock(shared.mutex));
    OK(panda_semaphore_wait(shared.semaphore));
    bool is_last;
    OK(panda_barrier_wait(shared.barrier, &is_last));
    OK(panda_mutex_lock(shared.mutex));
    shared.lasts += is_last;
    OK(panda_mutex_unlock(shared.mutex));
    return number;
}

static void leaves(void *result)
{
    panda_thread_exit(result);
}

static void *exits(void *context)
{
    *(uint64_t *)context = panda_thread_self();
    leaves(context);
    return NULL;
}

static void *reads(void *pipe_end)
{
    char byte = 0;
    CHECK(read(*(int *)pipe_end, &byte, 1) == 1 && byte == 'x');
    return pipe_end;
}

static void *writes(void *pipe_end)
{
    CHECK(write(*(int *)pipe_end, "x", 1) == 1);
    return NULL;
}

static void *exits_plainly(void *result)
{
    panda_thread_exit(result);
}

static void *exits_blocking(void *result)
{
    panda_blocking(exits_plainly, result, NULL);
    CHECK(!"here after an exit");
    return NULL;
}

static void *locks(void *mutex)
{
    IS(PANDA_NOT_NOW, panda_mutex_trylock(mutex));
    return mutex;
}

static void *program(void *kind)
{
    int numbers[3] = {1, 2, 3}, ends[2];
    uint64_t self = panda_thread_self(), other = 0;
    panda_thread *threads[3], *thread;
    void *result;
    shared = (struct shared){panda_mutex_new(), panda_condition_new(), panda_semaphore_new(2), panda_barrier_new(3), 0, 0, 0};
    for (int at = 0; at < 3; at++)
        OK(panda_thread_create("adder", 0, adds, &numbers[at], &threads[at]));
    panda_thread_yield();
    OK(panda_mutex_lock(shared.mutex));
    shared.is_open = 1;
    OK(panda_condition_broadcast(shared.condition));
    OK(panda_mutex_unlock(shared.mutex));
    OK(panda_semaphore_post(shared.semaphore));
    for (int at = 0; at < 3; at++) {
        OK(panda_thread_join(threads[at], &result));
        CHECK(result == &numbers[at]);
    }
    CHECK(shared.sum == 600 && shared.lasts == 1);
    IS(PANDA_NOT_NOW, panda_semaphore_trywait(shared.semaphore));
    CHECK(panda_semaphore_value(shared.semaphore) == 0 && panda_semaphore_value(NULL) == 0);
    OK(panda_semaphore_post(shared.semaphore));
    CHECK(panda_semaphore_value(shared.semaphore) == 1);
    OK(panda_semaphore_trywait(shared.semaphore));

    OK(panda_mutex_lock(shared.mutex));
    OK(panda_thread_create(NULL, 0, locks, shared.mutex, &thread));
    OK(panda_thread_join(thread, &result));
    CHECK(result == shared.mutex);
    IS(PANDA_TIMED_OUT, panda_condition_wait(shared.condition, shared.mutex, 1000000));
    OK(panda_mutex_unlock(shared.mutex));
    IS(PANDA_BAD_ARGUMENT, panda_mutex_unlock(shared.mutex));
    SAYS("panda_mutex_unlock: mutex is not locked");
    IS(PANDA_BAD_ARGUMENT, panda_condition_wait(shared.condition, shared.mutex, 0));
    OK(panda_condition_signal(shared.condition));
    OK(panda_mutex_trylock(shared.mutex));
    OK(panda_mutex_unlock(shared.mutex));

    OK(panda_thread_create(NULL, 0, exits, &other, &thread));
    OK(panda_thread_join(thread, &result));
    CHECK(result == &other && other != 0 && other != self && panda_thread_self() == self);
    OK(panda_thread_create(NULL, 0, exits_blocking, &other, &thread));
    OK(panda_thread_join(thread, &result));
    CHECK(result == &other);
    OK(panda_thread_sleep(1000));
    CHECK(panda_thread_set_priority(0));

    panda_semaphore *full = panda_semaphore_new(UINT64_MAX);
    OK(panda_semaphore_post(full));
    OK(panda_semaphore_trywait(full));
    panda_semaphore_free(full);

    CHECK(pipe(ends) == 0);
    OK(panda_thread_create(NULL, 0, writes, &ends[1], &thread));
    OK(panda_blocking(reads, &ends[0], &result));
    CHECK(result == &ends[0]);
    OK(panda_thread_join(thread, NULL));
    OK(panda_thread_create(NULL, 0, writes, &ends[1], &thread));
    while (!panda_thread_is_over(thread))
        panda_thread_yield();
    panda_thread_detach(thread);
    close(ends[0]);
    close(ends[1]);

    panda_mutex_free(shared.mutex);
    panda_condition_free(shared.condition);
    panda_semaphore_free(shared.semaphore);
    panda_barrier_free(shared.barrier);
    panda_thread_exit(kind);
}

int main(void)
{
    uint32_t kinds[2] = {PANDA_THREADS_SYSTEM, PANDA_THREADS_FIBERS};
    void *result;
    for (int at = 0; at < 2; at++) {
        result = NULL;
        OK(panda_run(kinds[at], program, &kinds[at], &result));
        CHECK(result == &kinds[at]);
    }
    OK(panda_run_on(2, program, &kinds[0], NULL));
    IS(PANDA_BAD_ARGUMENT, panda_run(7, program, NULL, NULL));
    SAYS("panda_run: threads is 7");
    IS(PANDA_BAD_ARGUMENT, panda_run_on(0, program, NULL, NULL));
    IS(PANDA_BAD_ARGUMENT, panda_run(PANDA_THREADS_SYSTEM, NULL, NULL, NULL));
    IS(PANDA_BAD_ARGUMENT, panda_thread_join(NULL, NULL));
    return 0;
}
