/* Storage taken on entry to a function or block: objects of fixed size, and arrays whose bounds are variables (VLAs).
 * Every object is held in memory, as if its address had escaped, so that none can be left out; nothing is stored in it. */
#include "allocation.h"
#include "features.h"
#include "lists.h"

enum colour { RED, GREEN, BLUE };

KIT_APART static void declare_nothing(void)
{
}

ALLOCATION_FRAME(frame_nothing, declare_nothing())

/* Fixed: a call of a function that declares the objects, against one of a function that declares none -------------------- */

#define NAME(k) v##k
#define HOLD(k) KIT_HOLD(v##k)

#define SCALAR_REGION(name, type, count)                                                                               \
    KIT_APART static void region_##name##_##count(void)                                                                \
    {                                                                                                                  \
        type EACH_##count(NAME, COMMA);                                                                                \
        EACH_##count(HOLD, SEMICOLON);                                                                                 \
    }                                                                                                                  \
    ALLOCATION_FRAME(frame_##name##_##count, region_##name##_##count())

#define COMPOSITE_REGION(name, bytes, declaration)                                                                     \
    KIT_APART static void region_##name##_##bytes(void)                                                                \
    {                                                                                                                  \
        declaration;                                                                                                   \
        KIT_HOLD(object);                                                                                              \
    }                                                                                                                  \
    ALLOCATION_FRAME(frame_##name##_##bytes, region_##name##_##bytes())

#define COMPOSITE_REGIONS(bytes)                                                                                       \
    struct record_##bytes {                                                                                            \
        int number[(bytes) / sizeof(int)];                                                                             \
    };                                                                                                                 \
    COMPOSITE_REGION(array, bytes, int object[(bytes) / sizeof(int)])                                                  \
    COMPOSITE_REGION(record, bytes, struct record_##bytes object)                                                      \
    COMPOSITE_REGION(string, bytes, char object[bytes])

#define FIXED_SIZES(X) X(4) X(64) X(1024) X(16384)
#define FIXED_COUNTS(X, name, type) X(name, type, 1) X(name, type, 10) X(name, type, 100)

FIXED_COUNTS(SCALAR_REGION, integer, int)
FIXED_COUNTS(SCALAR_REGION, enumeration, enum colour)
FIXED_SIZES(COMPOSITE_REGIONS)

/* Dynamic: arrays of 1 to 3 dimensions with bounds that the compiler does not know --------------------------------------- */

size_t array_bound = 1;

void bound_by_1(uint64_t argument)
{
    (void)argument;
    array_bound = 1;
}

void bound_by_10(uint64_t argument)
{
    (void)argument;
    array_bound = 10;
}

#define OBJECT_1d int object[array_bound]
#define OBJECT_2d int object[array_bound][array_bound]
#define OBJECT_3d int object[array_bound][array_bound][array_bound]

#define DYNAMIC(dimensions)                                                                                            \
    KIT_APART static void declare_##dimensions(void)                                                                   \
    {                                                                                                                  \
        OBJECT_##dimensions;                                                                                           \
        KIT_KEEP_TARGET(object);                                                                                       \
    }                                                                                                                  \
    ALLOCATION_FRAME(frame_subprogram_##dimensions, declare_##dimensions())                                            \
    ALLOCATION_FRAME(frame_block_##dimensions, OBJECT_##dimensions; KIT_KEEP_TARGET(object))

DYNAMIC(1d)
DYNAMIC(2d)
DYNAMIC(3d)

ALLOCATION_FRAME(frame_no_block, )

/* The table ------------------------------------------------------------------------------------------------------------ */

#define FIXED_ROW(name_, number)                                                                                       \
    {.name = "alloc.fixed." #name_ "." #number, .control = frame_nothing, .test = frame_##name_##_##number},
#define SCALAR_ROW(name, type, count) FIXED_ROW(name, count)
#define COMPOSITE_ROWS(bytes) FIXED_ROW(array, bytes) FIXED_ROW(record, bytes) FIXED_ROW(string, bytes)

#define DYNAMIC_ROW(place, control_, dimensions, range)                                                                \
    {.name = "alloc.dynamic." #place "." #dimensions "." #range, .control = control_,                                  \
     .test = frame_##place##_##dimensions, .prepare = bound_by_##range},
#define DYNAMIC_ROWS(dimensions)                                                                                       \
    DYNAMIC_ROW(subprogram, frame_nothing, dimensions, 1) DYNAMIC_ROW(subprogram, frame_nothing, dimensions, 10)       \
    DYNAMIC_ROW(block, frame_no_block, dimensions, 1) DYNAMIC_ROW(block, frame_no_block, dimensions, 10)

const struct kit_test allocation_tests[] = {
    FIXED_COUNTS(SCALAR_ROW, integer, int)
    FIXED_COUNTS(SCALAR_ROW, enumeration, enum colour)
    FIXED_SIZES(COMPOSITE_ROWS)
    DYNAMIC_ROWS(1d) DYNAMIC_ROWS(2d) DYNAMIC_ROWS(3d)
    {.name = NULL},
};
