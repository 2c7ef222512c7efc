/* malloc alone, and malloc with free. What malloc gave in a slice is kept until its end and then released, untimed. */
#include "features.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEPT_MOST = 1 << 17,
    BYTES_MOST = 1 << 30, /* of all objects of a slice together */
};

#define MOST(bytes) (BYTES_MOST / (bytes) < KEPT_MOST ? BYTES_MOST / (bytes) : KEPT_MOST)

enum colour { RED, GREEN };

static void *kept[KEPT_MOST]; /* NULL where a control loop kept nothing */
static size_t kept_count;

/* So that no page of the array is first touched in a slice. */
static void touch_kept(uint64_t argument)
{
    (void)argument;
    memset(kept, 0x55, sizeof kept);
    kept_count = 0;
}

static void release_kept(void)
{
    while (kept_count > 0)
        free(kept[--kept_count]);
}

static inline void keep(void *object)
{
    kept[kept_count++] = object;
}

static inline void *checked(void *object, size_t bytes)
{
    if (!object)
        kit_fail("malloc refused %zu bytes after %zu objects; ask for fewer iterations or raise the memory limit", bytes,
                 kept_count);
    return object;
}

static uint64_t keep_nothing(uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i = kit_increment(i))
        keep(NULL);
    return kept_count;
}

/* Objects of a size that the compiler knows --------------------------------------------------------------------------- */

#define NEW_FRAME(name, bytes)                                                                                         \
    static uint64_t frame_new_##name(uint64_t iterations)                                                              \
    {                                                                                                                  \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i))                                                        \
            keep(checked(malloc(bytes), bytes));                                                                       \
        return kept_count;                                                                                             \
    }

#define SIZES(X) X(4) X(16) X(64) X(256) X(1024) X(4096) X(16384) X(65536)
#define SIZED_FRAME(bytes) NEW_FRAME(bytes, bytes)

NEW_FRAME(integer, sizeof(int))
NEW_FRAME(enumeration, sizeof(enum colour))
SIZES(SIZED_FRAME)

/* Arrays with bounds that it does not know: the size is worked out at each allocation ------------------------------------- */

static size_t bound_1 = 1, bound_10 = 10;

#define BYTES_1d(n) ((n) * sizeof(int))
#define BYTES_2d(n) ((n) * (n) * sizeof(int))
#define BYTES_3d(n) ((n) * (n) * (n) * sizeof(int))

#define ARRAY_FRAME(dimensions, range)                                                                                 \
    static uint64_t frame_new_##dimensions##_##range(uint64_t iterations)                                              \
    {                                                                                                                  \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                                      \
            KIT_KEEP(bound_##range);                                                                                   \
            size_t bytes = BYTES_##dimensions(bound_##range);                                                          \
            keep(checked(malloc(bytes), bytes));                                                                       \
        }                                                                                                              \
        return kept_count;                                                                                             \
    }

#define ARRAYS(X) X(1d, 1) X(1d, 10) X(2d, 1) X(2d, 10) X(3d, 1) X(3d, 10)
ARRAYS(ARRAY_FRAME)

/* malloc and free ------------------------------------------------------------------------------------------------------- */

static char outside;

static uint64_t use_nothing(uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {
        char *object = &outside;
        *object = (char)(i & 1);
        KIT_KEEP_TARGET(object);
        sum += (uint64_t)*object;
    }
    return sum;
}

#define NEW_FREE_FRAME(bytes)                                                                                          \
    static uint64_t frame_new_free_##bytes(uint64_t iterations)                                                        \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                                      \
            char *object = checked(malloc(bytes), bytes);                                                              \
            *object = (char)(i & 1);                                                                                   \
            KIT_KEEP_TARGET(object);                                                                                   \
            sum += (uint64_t)*object;                                                                                  \
            free(object);                                                                                              \
        }                                                                                                              \
        return sum;                                                                                                    \
    }

#define NEW_FREE_SIZES(X) X(4) X(64) X(1024) X(16384) X(65536)
NEW_FREE_SIZES(NEW_FREE_FRAME)

/* The table. malloc knows no types: records, arrays and strings of one size are one frame. --------------------------------- */

#define NEW_ROW(row, frame, bytes)                                                                                     \
    {.name = "alloc.new." row, .control = keep_nothing, .test = frame_new_##frame, .prepare = touch_kept,              \
     .reset = release_kept, .most_iterations = MOST(bytes)},
#define SIZED_ROWS(bytes)                                                                                              \
    NEW_ROW("record." #bytes, bytes, bytes) NEW_ROW("array." #bytes, bytes, bytes) NEW_ROW("string." #bytes, bytes, bytes)
#define ARRAY_ROW(dimensions, range) NEW_ROW(#dimensions "." #range, dimensions##_##range, BYTES_##dimensions(range))
#define NEW_FREE_ROW(bytes)                                                                                            \
    {.name = "alloc.new_free." #bytes, .control = use_nothing, .test = frame_new_free_##bytes},

const struct kit_test new_tests[] = {
    NEW_ROW("integer", integer, sizeof(int))
    NEW_ROW("enumeration", enumeration, sizeof(enum colour))
    SIZES(SIZED_ROWS)
    ARRAYS(ARRAY_ROW)
    NEW_FREE_SIZES(NEW_FREE_ROW)
    {.name = NULL},
};
