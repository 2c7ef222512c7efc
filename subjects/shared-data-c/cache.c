/* The cache: tasks look words up, and now and then one of them adds to the count of a word. */
#include "shared.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct map *plain; /* of the ways with a lock */
static _Atomic(struct map *) published; /* of the ways with copies: never changed, only replaced */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t readers_writer = PTHREAD_RWLOCK_INITIALIZER;

/* Hazard pointers: what a task reads of the published map it holds, and what a task replaced it frees once nobody holds it. A task never has more
 * to free than there are tasks to hold it. */
static struct {
    _Alignas(APART) _Atomic(struct map *) held;
    struct map *replaced[2 * TASKS_MOST];
    unsigned count;
} hazard[TASKS_MOST];

struct way {
    const char *name;
    void (*read)(struct task *task, const char *key);
    void (*write)(struct task *task, const char *key);
};

static void look_up(struct map *map, const char *key)
{
    const uint64_t *value = map_find(map, key);
    if (!value)
        fail("`%s` is not in the cache", key);
    __asm__ volatile("" : : "r"(*value));
}

/* --- a mutex, a readers-writer lock ---------------------------------------------------------------------------------- */

static void lock_read(struct task *task, const char *key)
{
    (void)task;
    pthread_mutex_lock(&mutex);
    look_up(plain, key);
    pthread_mutex_unlock(&mutex);
}

static void lock_write(struct task *task, const char *key)
{
    (void)task;
    pthread_mutex_lock(&mutex);
    ++*map_find(plain, key);
    pthread_mutex_unlock(&mutex);
}

static void rwlock_read(struct task *task, const char *key)
{
    (void)task;
    pthread_rwlock_rdlock(&readers_writer);
    look_up(plain, key);
    pthread_rwlock_unlock(&readers_writer);
}

static void rwlock_write(struct task *task, const char *key)
{
    (void)task;
    pthread_rwlock_wrlock(&readers_writer);
    ++*map_find(plain, key);
    pthread_rwlock_unlock(&readers_writer);
}

/* --- copies ----------------------------------------------------------------------------------------------------------- */

static struct map *hold(struct task *task)
{
    struct map *map = atomic_load(&published);
    for (;;) {
        atomic_store(&hazard[task->number].held, map);
        struct map *still = atomic_load(&published);
        if (still == map)
            return map;
        map = still;
    }
}

static void let_go(struct task *task)
{
    atomic_store_explicit(&hazard[task->number].held, NULL, memory_order_release);
}

static bool is_held(const struct map *map)
{
    for (unsigned i = 0; i < TASKS_MOST; i++)
        if (atomic_load(&hazard[i].held) == map)
            return true;
    return false;
}

static void replace(struct task *task, struct map *copy)
{
    struct map **replaced = hazard[task->number].replaced;
    unsigned count = hazard[task->number].count, left = 0;
    replaced[count++] = atomic_exchange(&published, copy);
    if (count == 2 * TASKS_MOST) {
        for (unsigned i = 0; i < count; i++) {
            if (is_held(replaced[i]))
                replaced[left++] = replaced[i];
            else
                map_free(replaced[i]);
        }
        count = left;
    }
    hazard[task->number].count = count;
}

static void copy_read(struct task *task, const char *key)
{
    look_up(hold(task), key);
    let_go(task);
}

/* Writers take turns, so that every update is in the next copy. */
static void copy_write(struct task *task, const char *key)
{
    pthread_mutex_lock(&mutex);
    struct map *copy = map_copy(atomic_load(&published));
    ++*map_find(copy, key);
    replace(task, copy);
    pthread_mutex_unlock(&mutex);
}

/* Writers do not: of two that copy at once the later one wins, and the update of the other is lost. */
static void weak_write(struct task *task, const char *key)
{
    struct map *copy = map_copy(hold(task));
    let_go(task);
    ++*map_find(copy, key);
    replace(task, copy);
}

static const struct way ways[] = {
    {"lock", lock_read, lock_write},       {"rwlock", rwlock_read, rwlock_write}, {"copy", copy_read, copy_write},
    {"weak", copy_read, weak_write},       {"prefer", rwlock_read, rwlock_write}, {NULL, NULL, NULL},
};

static const struct way *chosen;
static unsigned writes_per_mille;

static void choose(const char *program, const char *name)
{
    for (chosen = ways; chosen->name && strcmp(chosen->name, name) != 0;)
        chosen++;
    if (!chosen->name)
        fail("there is no program `%s_%s`", program, name);
    if (strcmp(name, "prefer") == 0) {
        pthread_rwlockattr_t kind;
        pthread_rwlockattr_init(&kind);
        pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&readers_writer, &kind);
    }
    for (unsigned i = 0; i < KEYS; i++)
        map_key(i);
    plain = map_new();
    atomic_init(&published, map_new());
}

static uint64_t updates_kept(void)
{
    return map_sum(plain) + map_sum(atomic_load(&published));
}

/* --- reads with some writes ------------------------------------------------------------------------------------------------ */

static void read_and_write(struct task *task)
{
    for (unsigned key = task->number; !atomic_load_explicit(&time_is_up, memory_order_relaxed);) {
        for (int i = 0; i < OPERATIONS_A_LOOK; i++) {
            key = (key + 7) % KEYS;
            if (permille(task) < writes_per_mille) {
                chosen->write(task, map_key(key));
                task->updates++;
            } else {
                chosen->read(task, map_key(key));
            }
        }
        task->operations += OPERATIONS_A_LOOK;
    }
}

void run_cache(const char *way, const unsigned long *argument)
{
    struct task task[TASKS_MOST];
    unsigned tasks = (unsigned)argument[0];
    choose("cache", way);
    writes_per_mille = (unsigned)argument[1];
    uint64_t elapsed_ns = run_tasks(tasks, argument[2], read_and_write, task), operations = 0, updates = 0;
    for (unsigned t = 0; t < tasks; t++) {
        operations += task[t].operations;
        updates += task[t].updates;
    }
    if (updates_kept() != updates && strcmp(way, "weak") != 0)
        fail("%s lost updates: %" PRIu64 " of %" PRIu64 " are left", way, updates_kept(), updates);
    printf("cache, tasks %u, writes %lu\n", tasks, argument[1]);
    printf("@@ run elapsed_ns=%" PRIu64 " operations=%" PRIu64 " updates=%" PRIu64 " kept=%" PRIu64 "\n", elapsed_ns,
           operations, updates, updates_kept());
}

/* --- a writer among readers ------------------------------------------------------------------------------------------------ */

static unsigned writer;

/* A writer goes on until it has written once, whenever that is. */
static bool goes_on(const struct task *task)
{
    return (task->number == writer && task->updates == 0) || !atomic_load_explicit(&time_is_up, memory_order_relaxed);
}

/* The last task writes, each time as soon as it may; the others read without a pause. */
static void read_or_write(struct task *task)
{
    for (unsigned key = task->number; goes_on(task); key = (key + 7) % KEYS) {
        if (task->number != writer) {
            chosen->read(task, map_key(key));
            task->operations++;
            continue;
        }
        uint64_t began_ns = now_ns();
        chosen->write(task, map_key(key));
        uint64_t waited_ns = now_ns() - began_ns;
        task->updates++;
        if (waited_ns > task->longest_wait_ns)
            task->longest_wait_ns = waited_ns;
        sched_yield();
    }
}

void run_starve(const char *way, const unsigned long *argument)
{
    struct task task[TASKS_MOST];
    writer = (unsigned)argument[0];
    choose("starve", way);
    uint64_t elapsed_ns = run_tasks(writer + 1, argument[1], read_or_write, task), operations = 0;
    for (unsigned t = 0; t < writer; t++)
        operations += task[t].operations;
    printf("one writer, readers %lu\n", argument[0]);
    printf("@@ run elapsed_ns=%" PRIu64 " whole_ns=%" PRIu64 " operations=%" PRIu64 " updates=%" PRIu64
           " longest_wait_ns=%" PRIu64 "\n",
           elapsed_ns, elapsed_ns, operations, task[writer].updates, task[writer].longest_wait_ns);
}
