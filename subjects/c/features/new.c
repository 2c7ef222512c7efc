/* malloc alone, and malloc with free: a call of a function that allocates, against one of a function that gives NULL. What
 * malloc gave in a slice is kept until its end and then released, untimed, in the order of allocation: glibc gives more
 * or fewer pages back to the system by that order, and the next slice pays for them. */
#include "allocation.h"
#include "features.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEPT_MOST = 1 << 16,
    BYTES_MOST = 1 << 27, /* of all objects of a slice together */
};

#define MOST(bytes) (BYTES_MOST / (bytes) < KEPT_MOST ? BYTES_MOST / (bytes) : KEPT_MOST)

enum colour { RED, GREEN, BLUE };

static void *kept[KEPT_MOST]; /* NULL where a control loop kept nothing */
static size_t kept_count;

/* So that no page of the array is first touched in a slice. */
static void touch_kept(uint64_t argument)
{
    (void)argument;
    memset(kept, 0x55, sizeof kept);
    kept_count = 0;
}

static void touch_and_bound_by_1(uint64_t argument)
{
    bound_by_1(argument);
    touch_kept(argument);
}

static void touch_and_bound_by_10(uint64_t argument)
{
    bound_by_10(argument);
    touch_kept(argument);
}

static void release_kept(void)
{
    for (size_t i = 0; i < kept_count; i++)
        free(kept[i]);
    kept_count = 0;
}

static inline void keep(void *object)
{
    kept[kept_count++] = object;
}

static inline void *allocate(size_t bytes)
{
    void *object = malloc(bytes);
    if (!object)
        kit_fail("malloc refused %zu bytes after %zu objects; ask for fewer iterations or raise the memory limit", bytes,
                 kept_count);
    return object;
}

/* What a frame calls ---------------------------------------------------------------------------------------------------- */

#define NEW(name, bytes)                                                                                               \
    KIT_APART static void *new_##name(void)                                                                            \
    {                                                                                                                  \
        return allocate(bytes);                                                                                        \
    }                                                                                                                  \
    ALLOCATION_FRAME(frame_new_##name, keep(new_##name()))

KIT_APART static void *new_nothing(void)
{
    return NULL;
}

ALLOCATION_FRAME(frame_new_nothing, keep(new_nothing()))

#define SIZES(X) X(4) X(16) X(64) X(256) X(1024) X(4096) X(16384) X(65536)
#define NEW_SIZED(bytes) NEW(bytes, bytes)

NEW(integer, sizeof(int))
NEW(enumeration, sizeof(enum colour))
SIZES(NEW_SIZED)

/* Arrays with bounds that the compiler does not know: the size is worked out at each allocation. */
#define BYTES_1d(n) ((n) * sizeof(int))
#define BYTES_2d(n) ((n) * (n) * sizeof(int))
#define BYTES_3d(n) ((n) * (n) * (n) * sizeof(int))

NEW(1d, BYTES_1d(array_bound))
NEW(2d, BYTES_2d(array_bound))
NEW(3d, BYTES_3d(array_bound))

#define NEW_FREE(bytes)                                                                                                \
    KIT_APART static void new_free_##bytes(void)                                                                       \
    {                                                                                                                  \
        void *object = allocate(bytes);                                                                                \
        KIT_KEEP_TARGET(object);                                                                                       \
        free(object);                                                                                                  \
    }                                                                                                                  \
    ALLOCATION_FRAME(frame_new_free_##bytes, new_free_##bytes())

KIT_APART static void free_nothing(void)
{
}

ALLOCATION_FRAME(frame_free_nothing, free_nothing())

#define NEW_FREE_SIZES(X) X(4) X(64) X(1024) X(16384) X(65536)
NEW_FREE_SIZES(NEW_FREE)

/* The table. malloc knows no types: records, arrays and strings of one size are one frame. --------------------------------- */

#define NEW_ROW(row, frame, prepare_, bytes)                                                                           \
    {.name = "alloc.new." row, .control = frame_new_nothing, .test = frame_new_##frame, .prepare = prepare_,           \
     .reset = release_kept, .most_iterations = MOST(bytes)},
#define FIXED_ROW(row, frame, bytes) NEW_ROW(row, frame, touch_kept, bytes)
#define SIZED_ROWS(bytes)                                                                                              \
    FIXED_ROW("record." #bytes, bytes, bytes)                                                                          \
    FIXED_ROW("array." #bytes, bytes, bytes)                                                                           \
    FIXED_ROW("string." #bytes, bytes, bytes)
#define ARRAY_ROWS(dimensions)                                                                                         \
    NEW_ROW(#dimensions ".1", dimensions, touch_and_bound_by_1, BYTES_##dimensions(1))                                 \
    NEW_ROW(#dimensions ".10", dimensions, touch_and_bound_by_10, BYTES_##dimensions(10))
#define NEW_FREE_ROW(bytes)                                                                                            \
    {.name = "alloc.new_free." #bytes, .control = frame_free_nothing, .test = frame_new_free_##bytes},

const struct kit_test new_tests[] = {
    FIXED_ROW("integer", integer, sizeof(int))
    FIXED_ROW("enumeration", enumeration, sizeof(enum colour))
    SIZES(SIZED_ROWS)
    ARRAY_ROWS(1d)
    ARRAY_ROWS(2d)
    ARRAY_ROWS(3d)
    NEW_FREE_SIZES(NEW_FREE_ROW)
    {.name = NULL},
};
