/* The paper's storage loops: all pointers kept; two pointers only, so that each object but the last two is lost; two
 * pointers and free. C has no collector, so `two_pointers` shows what losing objects costs where nothing gets them back.
 *
 * Each object is written to once a page: what is never touched takes no memory. To give the storage back afterwards, the
 * loops leave a record of every object where neither malloc nor the loop looks. */
#include "features.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS_MOST = 1000000, PAGE_BYTES = 4096 };

static char **record; /* every object that is not yet released */
static size_t recorded;
static size_t object_bytes;
static char *pointers[2];

static void prepare(uint64_t bytes)
{
    if (bytes == 0)
        kit_fail("arg is the size of an object in bytes: at least 1");
    object_bytes = bytes;
    recorded = 0;
    pointers[0] = pointers[1] = NULL;
    record = malloc(TURNS_MOST * sizeof *record);
    if (!record)
        kit_fail("no storage for the record of objects: raise the memory limit above 8 MiB");
    memset(record, 0x55, TURNS_MOST * sizeof *record);
}

static void finish(void)
{
    while (recorded > 0)
        free(record[--recorded]);
    free(record);
    record = NULL;
    malloc_trim(0);
}

static char *allocate(void)
{
    char *object = malloc(object_bytes);
    if (object)
        for (size_t at = 0; at < object_bytes; at += PAGE_BYTES)
            object[at] = 1;
    KIT_KEEP_TARGET(object);
    return object;
}

static bool turn_kept(uint64_t index)
{
    char *object = allocate();
    (void)index;
    if (!object)
        return false;
    record[recorded++] = object;
    return true;
}

static bool turn_two_pointers(uint64_t index)
{
    char *object = allocate();
    if (!object)
        return false;
    pointers[index % 2] = object;
    record[recorded++] = object;
    return true;
}

static bool turn_deallocated(uint64_t index)
{
    char *object = allocate();
    if (!object)
        return false;
    pointers[index % 2] = object;
    free(object);
    return true;
}

#define ROW(loop)                                                                                                      \
    {.name = "storage." #loop, .kind = KIT_SERIES, .turn = turn_##loop, .prepare = prepare, .finish = finish,          \
     .arg_unit = "bytes"},
const struct kit_test storage_tests[] = {ROW(kept) ROW(two_pointers) ROW(deallocated){.name = NULL}};
