/* Storage taken on entry to a function or block: objects of fixed size, and arrays whose bounds are variables (VLAs).
 * Every object is held in memory, as if its address had escaped, so that none can be left out. */
#include "features.h"
#include "lists.h"

#include <stddef.h>

enum colour { RED, GREEN };

/* Fixed: a call of a function that declares the objects, against one of a function that declares none -------------------- */

static int outside; /* what the control works on instead */

KIT_APART static uint64_t region_empty(uint64_t value)
{
    outside = (int)value;
    KIT_KEEP(outside);
    return (uint64_t)outside;
}

#define NAME(k) v##k
#define HOLD(k) KIT_HOLD(v##k)

#define SCALAR_REGION(name, type, count)                                                                               \
    KIT_APART static uint64_t region_##name##_##count(uint64_t value)                                                  \
    {                                                                                                                  \
        type EACH_##count(NAME, COMMA);                                                                                \
        EACH_##count(HOLD, SEMICOLON);                                                                                 \
        v100 = (type)value;                                                                                            \
        KIT_KEEP(v100);                                                                                                \
        return (uint64_t)v100;                                                                                         \
    }

#define COMPOSITE_REGION(name, bytes, declaration, first)                                                              \
    KIT_APART static uint64_t region_##name##_##bytes(uint64_t value)                                                  \
    {                                                                                                                  \
        declaration;                                                                                                   \
        KIT_HOLD(object);                                                                                              \
        first = (int)value;                                                                                            \
        KIT_KEEP(object);                                                                                              \
        return (uint64_t)first;                                                                                        \
    }
#define ARRAY_REGION(bytes) COMPOSITE_REGION(array, bytes, int object[(bytes) / sizeof(int)], object[0])
#define RECORD_REGION(bytes)                                                                                           \
    struct record_##bytes {                                                                                            \
        int number[(bytes) / sizeof(int)];                                                                             \
    };                                                                                                                 \
    COMPOSITE_REGION(record, bytes, struct record_##bytes object, object.number[0])
#define STRING_REGION(bytes)                                                                                           \
    KIT_APART static uint64_t region_string_##bytes(uint64_t value)                                                    \
    {                                                                                                                  \
        char object[bytes];                                                                                            \
        KIT_HOLD(object);                                                                                              \
        object[0] = (char)(value & 127);                                                                               \
        KIT_KEEP(object);                                                                                              \
        return (uint64_t)object[0];                                                                                    \
    }

#define FIXED_SIZES(X) X(4) X(64) X(1024) X(16384)
#define FIXED_COUNTS(X, name, type) X(name, type, 1) X(name, type, 10) X(name, type, 100)

FIXED_COUNTS(SCALAR_REGION, integer, int)
FIXED_COUNTS(SCALAR_REGION, enumeration, enum colour)
FIXED_SIZES(ARRAY_REGION)
FIXED_SIZES(RECORD_REGION)
FIXED_SIZES(STRING_REGION)

#define REGION_FRAME(region)                                                                                           \
    static uint64_t frame_##region(uint64_t iterations)                                                                \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i))                                                        \
            sum += region_##region(i & 1);                                                                             \
        return sum;                                                                                                    \
    }
#define SCALAR_FRAME(name, type, count) REGION_FRAME(name##_##count)
#define COMPOSITE_FRAMES(bytes) REGION_FRAME(array_##bytes) REGION_FRAME(record_##bytes) REGION_FRAME(string_##bytes)

REGION_FRAME(empty)
FIXED_COUNTS(SCALAR_FRAME, integer, int)
FIXED_COUNTS(SCALAR_FRAME, enumeration, enum colour)
FIXED_SIZES(COMPOSITE_FRAMES)

/* Dynamic: arrays of 1 to 3 dimensions with bounds that the compiler does not know --------------------------------------- */

static size_t bound_1 = 1, bound_10 = 10;

#define ARRAY_1d(n) int object[n]; int *first = object
#define ARRAY_2d(n) int object[n][n]; int *first = object[0]
#define ARRAY_3d(n) int object[n][n][n]; int *first = object[0][0]
#define ARRAY_0d(n) int *first = &outside; (void)(n)

#define DYNAMIC_BODY(dimensions, bound, value)                                                                         \
    ARRAY_##dimensions(bound);                                                                                         \
    *first = (int)(value);                                                                                             \
    KIT_KEEP_TARGET(first)

#define DYNAMIC_SUBPROGRAM(dimensions)                                                                                 \
    KIT_APART static uint64_t dynamic_##dimensions(size_t bound, uint64_t value)                                       \
    {                                                                                                                  \
        DYNAMIC_BODY(dimensions, bound, value);                                                                        \
        return (uint64_t)*first;                                                                                       \
    }

#define DYNAMIC_FRAMES(dimensions, range)                                                                              \
    static uint64_t frame_subprogram_##dimensions##_##range(uint64_t iterations)                                       \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                                      \
            KIT_KEEP(bound_##range);                                                                                   \
            sum += dynamic_##dimensions(bound_##range, i & 1);                                                         \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    static uint64_t frame_block_##dimensions##_##range(uint64_t iterations)                                            \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        for (uint64_t i = 0; i < iterations; i = kit_increment(i)) {                                                      \
            KIT_KEEP(bound_##range);                                                                                   \
            size_t bound = bound_##range;                                                                              \
            DYNAMIC_BODY(dimensions, bound, i & 1);                                                                    \
            sum += (uint64_t)*first;                                                                                   \
        }                                                                                                              \
        return sum;                                                                                                    \
    }

#define ALL_DIMENSIONS(X) X(0d) X(1d) X(2d) X(3d)
#define DYNAMIC_RANGES(dimensions) DYNAMIC_FRAMES(dimensions, 1) DYNAMIC_FRAMES(dimensions, 10)

ALL_DIMENSIONS(DYNAMIC_SUBPROGRAM)
ALL_DIMENSIONS(DYNAMIC_RANGES)

/* The table ------------------------------------------------------------------------------------------------------------ */

#define FIXED_ROW(name_, number)                                                                                       \
    {.name = "alloc.fixed." #name_ "." #number, .control = frame_empty, .test = frame_##name_##_##number},
#define SCALAR_ROW(name, type, count) FIXED_ROW(name, count)
#define COMPOSITE_ROWS(bytes) FIXED_ROW(array, bytes) FIXED_ROW(record, bytes) FIXED_ROW(string, bytes)

#define DYNAMIC_ROW(place, dimensions, range)                                                                          \
    {.name = "alloc.dynamic." #place "." #dimensions "." #range,                                                       \
     .control = frame_##place##_0d_##range,                                                                            \
     .test = frame_##place##_##dimensions##_##range},
#define DYNAMIC_ROWS(dimensions)                                                                                       \
    DYNAMIC_ROW(subprogram, dimensions, 1) DYNAMIC_ROW(subprogram, dimensions, 10)                                     \
    DYNAMIC_ROW(block, dimensions, 1) DYNAMIC_ROW(block, dimensions, 10)

const struct kit_test allocation_tests[] = {
    FIXED_COUNTS(SCALAR_ROW, integer, int)
    FIXED_COUNTS(SCALAR_ROW, enumeration, enum colour)
    FIXED_SIZES(COMPOSITE_ROWS)
    DYNAMIC_ROWS(1d) DYNAMIC_ROWS(2d) DYNAMIC_ROWS(3d)
    {.name = NULL},
};
