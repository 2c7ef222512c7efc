/* Data that tasks share: a counter and a cache, protected in several ways (docs/explanation/shared-data.md). */
#ifndef SHARED_H
#define SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Between two looks at whether time is up a task does so many operations. */
enum { OPERATIONS_A_LOOK = 64, TASKS_MOST = 64 };

/* team.c: tasks that start at a barrier and work until time is up --------------------------------------------------- */

/* What tasks write at each operation lies so far apart, bytes: two lines of the processor's cache, since it fetches them in pairs. */
enum { APART = 128 };

struct task {
    _Alignas(APART) unsigned number;
    uint64_t operations; /* what it did */
    uint64_t updates, longest_wait_ns;
    uint64_t random;
};

_Static_assert(sizeof(struct task) % APART == 0, "tasks beside each other would disturb each other");

extern atomic_bool time_is_up;

uint64_t now_ns(void);

/* Runs `work` in so many tasks for a time; gives how long it was from just before their start until time was up, ns. */
uint64_t run_tasks(unsigned tasks, uint64_t time_ms, void (*work)(struct task *task), struct task *done);

/* A pseudo-random number below 1000 (xorshift), by which operations become reads or writes. */
static inline unsigned permille(struct task *task)
{
    task->random ^= task->random << 13;
    task->random ^= task->random >> 7;
    task->random ^= task->random << 17;
    return (unsigned)((task->random >> 32) * 1000 >> 32);
}

/* Ends the program with a message. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* map.c: a hash table of words and counts --------------------------------------------------------------------------- */

enum { KEYS = 128, KEY_BYTES = 16 };

struct map;

struct map *map_new(void); /* every key with the value 0 */
struct map *map_copy(const struct map *map);
void map_free(struct map *map);
const char *map_key(unsigned index);
uint64_t *map_find(struct map *map, const char *key); /* NULL: it is not there */
uint64_t map_sum(const struct map *map);

/* counter.c and cache.c: the programs, by name and arguments ------------------------------------------------------------ */

void run_counter(const char *way, const unsigned long *argument);
void run_cache(const char *way, const unsigned long *argument);
void run_starve(const char *way, const unsigned long *argument);

#endif
