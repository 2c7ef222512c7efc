/* What the test programs share: checks, types like those of generated code, and errors that come
 * back here instead of ending the program. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "orca_values.h"

static int failures;
#define CHECK(what)                                                                               \
    ((what) ? (void)0                                                                             \
            : (void)(failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what)))

static jmp_buf on_error;
static char error_text[100], error_values[500];
static enum orca_error_kind error_kind;
static orca_at error_place;

void orca_runtime_error(orca_at at, enum orca_error_kind kind, const char *text,
                        const char *values)
{
    snprintf(error_text, sizeof error_text, "%s", text);
    snprintf(error_values, sizeof error_values, "%s", values);
    error_kind = kind;
    error_place = at;
    longjmp(on_error, 1);
}

static const struct orca_location here_location = {"t.imp", 7};
static const orca_at here = &here_location;

/* Checks that an action raises the error with this text and these values, at `here`. */
#define FAILS(text, values, ...)                                                                  \
    do {                                                                                          \
        if (!setjmp(on_error)) {                                                                  \
            __VA_ARGS__;                                                                          \
            CHECK(!"no error");                                                                   \
        } else {                                                                                  \
            CHECK(!strcmp(error_text, text));                                                     \
            CHECK(!strcmp(error_values, values));                                                 \
            CHECK(error_place == here);                                                          \
        }                                                                                         \
    } while (0)

/* TYPE Row = ARRAY[integer] OF integer; Rows = ARRAY[integer] OF Row */
static const struct orca_type row_type __attribute__((unused)) = {
    .name = "Row", .kind = ORCA_ARRAY, .size = sizeof(orca_array1), .dimensions = 1,
    .element = &orca_type_integer};
static const struct orca_type rows_type __attribute__((unused)) = {
    .name = "Rows", .kind = ORCA_ARRAY, .size = sizeof(orca_array1), .dimensions = 1,
    .element = &row_type};
static const struct orca_type grid_type __attribute__((unused)) = {
    .name = "Grid", .kind = ORCA_ARRAY, .size = sizeof(orca_array2), .dimensions = 2,
    .element = &orca_type_real};

/* TYPE Job = RECORD name: string; cost: integer; route: Row[1..2]; END */
typedef struct {
    orca_array1 name;
    int32_t cost;
    orca_array1 route;
} Job;
__attribute__((unused)) static void init_route(void *route)
{
    orca_array_init(NULL, &row_type, route, 1, (const long long[]){1, 2});
}
static const struct orca_field job_fields[] = {
    {.name = "name", .type = &orca_type_string, .offset = offsetof(Job, name)},
    {.name = "cost", .type = &orca_type_integer, .offset = offsetof(Job, cost)},
    {.name = "route", .type = &row_type, .offset = offsetof(Job, route),
     .init = init_route}};
static const struct orca_type job_type __attribute__((unused)) = {
    .name = "Job", .kind = ORCA_RECORD, .size = sizeof(Job), .count = 3, .fields = job_fields,
    .has_init = true};

/* TYPE Shape = UNION(kind: integer) 1 => side: real; 2 => points: Row; 3 => job: Job; END */
typedef struct {
    orca_tag tag;
    union {
        double side;
        orca_array1 points;
        Job job;
    } as;
} Shape;
static const struct orca_field shape_fields[] = {
    {.name = "side", .type = &orca_type_real, .offset = offsetof(Shape, as.side), .tag = 1},
    {.name = "points", .type = &row_type, .offset = offsetof(Shape, as.points), .tag = 2},
    {.name = "job", .type = &job_type, .offset = offsetof(Shape, as.job), .tag = 3}};
static const struct orca_type shape_type __attribute__((unused)) = {
    .name = "Shape", .kind = ORCA_UNION, .size = sizeof(Shape), .count = 3,
    .fields = shape_fields};

static const struct orca_type names_type __attribute__((unused)) = {
    .name = "Names", .kind = ORCA_SET, .size = sizeof(orca_set), .element = &orca_type_string};
static const struct orca_type numbers_type __attribute__((unused)) = {
    .name = "Numbers", .kind = ORCA_SET, .size = sizeof(orca_set), .element = &orca_type_integer};
static const struct orca_type number_bag_type __attribute__((unused)) = {
    .name = "NumberBag", .kind = ORCA_BAG, .size = sizeof(orca_set),
    .element = &orca_type_integer};
static const struct orca_type sets_type __attribute__((unused)) = {
    .name = "Sets", .kind = ORCA_SET, .size = sizeof(orca_set), .element = &numbers_type};

/* TYPE Queue = GRAPH first: NODENAME; NODES job: Job; next: NODENAME; END */
typedef struct {
    orca_graph graph;
    orca_node first;
} Queue;
typedef struct {
    Job job;
    orca_node next;
} QueueNode;
static const struct orca_field queue_node_fields[] = {
    {.name = "job", .type = &job_type, .offset = offsetof(QueueNode, job)},
    {.name = "next", .type = &orca_type_node, .offset = offsetof(QueueNode, next)}};
static const struct orca_type queue_node_type = {.name = "node of Queue", .kind = ORCA_RECORD,
                                          .size = sizeof(QueueNode), .count = 2,
                                          .fields = queue_node_fields, .has_init = true};
static const struct orca_field queue_fields[] = {
    {.name = "first", .type = &orca_type_node, .offset = offsetof(Queue, first)}};
static const struct orca_type queue_type __attribute__((unused)) = {
    .name = "Queue", .kind = ORCA_GRAPH, .size = sizeof(Queue), .count = 1,
    .element = &queue_node_type, .fields = queue_fields};

/* Makes a row 1..n of first, first + 1, .. */
__attribute__((unused)) static orca_array1 row_of(int n, int first)
{
    orca_array1 row;
    orca_array_init(here, &row_type, &row, 1, (const long long[]){1, n});
    for (int i = 1; i <= n; i++)
        ORCA_AT1(int32_t, &row, i, here) = first + i - 1;
    return row;
}

__attribute__((unused)) static Job job_of(const char *name, int cost)
{
    Job job;
    orca_init(&job_type, &job);
    orca_string_set(&job.name, name, strlen(name));
    job.cost = cost;
    return job;
}

__attribute__((unused)) static orca_array1 string_of(const char *text)
{
    orca_array1 string = {0};
    orca_string_set(&string, text, strlen(text));
    return string;
}

/* Returns whether a value is the same after packing and unpacking. */
__attribute__((unused)) static bool survives(const struct orca_type *type, const void *value)
{
    struct orca_writer buffer = {NULL, 0, 0}, again = {NULL, 0, 0};
    orca_put(type, value, &buffer);
    void *copy = orca_allocate(NULL, 1, type->size);
    struct orca_reader reader = {buffer.bytes, buffer.bytes + buffer.length, NULL};
    bool is_same = orca_get(type, copy, &reader) && reader.next == reader.end && !reader.wrong;
    if (is_same) {
        orca_put(type, copy, &again);
        is_same = again.length == buffer.length && !memcmp(again.bytes, buffer.bytes, again.length);
        bool has_relation = type->kind != ORCA_GRAPH;
        is_same = is_same && (!has_relation || orca_equal(type, value, copy));
    }
    orca_destroy(type, copy);
    orca_free(copy);
    orca_free(buffer.bytes);
    orca_free(again.bytes);
    return is_same;
}

#endif
