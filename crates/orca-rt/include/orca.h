/* Objects and processes of Orca programs: what generated C stands on, beside the values of orca_values.h.
 *
 * An object variable is a pointer to an orca_object. Its state is this process's own until it is
 * passed to a process as SHARED. From then on it is a shared object of the run-time, which other
 * machines may hold, and its operations are invoked by their numbers with bytes as arguments. */
#ifndef ORCA_H
#define ORCA_H

#include "orca_values.h"

/* A variable that is destroyed when its block is left, in whatever way. */
#define ORCA_OWNED(destroy) __attribute__((cleanup(destroy)))

/* ---- operations --------------------------------------------------------------------------- */

/* The outcome of an alternative. */
enum { ORCA_CLOSED, ORCA_DONE, ORCA_BLOCKED, ORCA_MALFORMED };

/* An alternative of an operation. It returns ORCA_DONE or ORCA_CLOSED, or is unwound. */
typedef int (*orca_body)(void *state, void *arguments);

struct orca_alternative {
    const char *guard; /* in words; null if there is none */
    orca_body run;
    bool writes;
    bool may_block; /* on a nested object */
    bool may_undo;  /* it may write and then not complete */
};

/* `arguments` is a struct of `size` bytes that begins with what an alternative takes. */
struct orca_operation {
    const char *name;
    const struct orca_alternative *alternatives;
    uint32_t count;
    size_t size;
    bool has_result; /* or OUT parameters */
    bool does_io;
    void (*put)(const void *arguments, struct orca_writer *);
    bool (*get)(void *arguments, struct orca_reader *);
    void (*drop)(void *arguments);
    void (*put_result)(const void *arguments, struct orca_writer *);
    bool (*get_result)(void *arguments, struct orca_reader *);
};

struct orca_object_type {
    const char *name; /* that no other type of the program has */
    const struct orca_type *state;
    void (*init)(void *state);
    const struct orca_operation *operations;
    uint32_t count;
    bool does_io;
};

/* The functions of types of objects. */
extern const struct orca_custom orca_object_custom;

typedef struct orca_object *orca_object;
struct orca_object {
    void *state;  /* null if it is shared */
    void *handle; /* of a shared object */
    const struct orca_object_type *type;
};

/* Creates an object, and runs its initial code. */
orca_object orca_object_new(const struct orca_object_type *);
ORCA_INLINE bool orca_object_is_shared(orca_object object) { return object->handle != NULL; }
ORCA_INLINE void *orca_object_state(orca_object object) { return object->state; }
/* Executes an operation of a shared object. */
void orca_object_invoke(orca_at, orca_object, uint32_t operation, void *arguments);
/* Sets the placement of a shared object: on all machines, or on one. */
void orca_object_strategy(orca_at, orca_object, int replicate, int cpu);

/* Tries an alternative: ORCA_BLOCKED if it blocks within. */
int orca_attempt(orca_body, void *state, void *arguments);
/* The same, and takes back what it has written if it does not complete. */
int orca_attempt_or_undo(const struct orca_type *, orca_body, void *state, void *arguments);
/* No alternative is open: unwinds to the enclosing attempt, or is the error "local deadlock". */
ORCA_NORETURN void orca_block(orca_at, const char *object, const char *operation);
/* Unwinds to the enclosing attempt, which there is. */
ORCA_NORETURN void orca_unwind(void);

/* ---- partitioned objects ------------------------------------------------------------------- */

/* A partitioned object is an array of elements, which are structs of its fields. Its parts are on
 * the machines that own them. Dimensions beyond its own have one index. */
enum { ORCA_MOST_SHAPE = 3 };

/* The place of an index along a dimension: a part along it, and the index within the part. */
struct orca_along {
    uint32_t part, at;
};

struct orca_part {
    char *elements; /* the last dimension is contiguous; null if they have not come yet */
    uint64_t from[ORCA_MOST_SHAPE], length[ORCA_MOST_SHAPE]; /* indices count from 0 */
    bool is_changed; /* the elements are a copy, which the operation changes */
};

/* The object as an operation sees it. */
struct orca_view {
    struct orca_dimension dimension[ORCA_MOST_SHAPE];
    const struct orca_along *along[ORCA_MOST_SHAPE];
    uint64_t counts[2]; /* parts along the first dimensions */
    struct orca_part *parts;
    uint64_t part_count;
    const struct orca_array_type *type;
    uint64_t part;   /* the part on which a parallel operation runs */
    char *own;       /* its elements as the operation leaves them */
    uint8_t *needed; /* by part: whether the part on which it runs is declared to read it */
    const void *access; /* the run-time's; null if there are no elements */
};

/* What an operation reads beyond its own element. */
enum orca_reads {
    ORCA_READS_OWN,
    ORCA_READS_WHOLE,
    ORCA_READS_DECLARED,         /* the same elements in each call */
    ORCA_READS_DECLARED_BY_CALL, /* elements that depend on the arguments */
    ORCA_READS_RECORDED,         /* the first run after a distribution is watched */
    ORCA_READS_ON_DEMAND
};

struct orca_array_operation {
    const char *name;
    bool is_parallel;
    bool writes;
    bool has_result; /* or OUT parameters */
    int32_t reads;
    size_t size; /* of the arguments, as in orca_operation */
    void (*put)(const void *arguments, struct orca_writer *);
    bool (*get)(void *arguments, struct orca_reader *);
    void (*drop)(void *arguments);
    bool (*get_result)(void *arguments, struct orca_reader *);
    /* Parallel: runs it on the elements of `part`, and writes the part's share of the result.
     * Sequential: runs it once, and writes the result. */
    void (*run)(struct orca_view *, void *arguments, struct orca_writer *result);
    /* Marks the parts that the elements of `part` read. */
    void (*declare)(struct orca_view *, void *arguments);
    /* Adds the share of `part` to the results in the arguments. */
    bool (*collect)(struct orca_view *, void *arguments, bool is_first, struct orca_reader *share);
};

struct orca_array_type {
    const char *name; /* that no other type of the program has */
    const struct orca_type *element;
    int32_t dimensions;
    void (*init)(struct orca_view *); /* the initial code, or null */
    const struct orca_array_operation *operations;
    uint32_t count;
};

extern const struct orca_custom orca_partitioned_custom;

/* A variable of a partitioned type. */
typedef struct orca_partitioned *orca_partitioned;
struct orca_partitioned {
    void *handle; /* null until it is distributed or shared */
    const struct orca_array_type *type;
    struct orca_dimension dimension[ORCA_MOST_SHAPE]; /* all counts are 0 if there are no bounds */
    int64_t parts[ORCA_MOST_SHAPE];                   /* along each dimension; 0 if none are given */
};

/* Makes an object with bounds, low and high of each dimension, or without if they are null. */
orca_partitioned orca_partitioned_new(orca_at, const struct orca_array_type *,
                                      const long long *bounds);
void orca_partitioned_invoke(orca_at, orca_partitioned, uint32_t operation, void *arguments);
/* The directives. `along` has a number of machines and BLOCK or CYCLIC for each dimension. */
void orca_partition(orca_at, orca_partitioned, const long long *parts);
void orca_distribute_on_n(orca_at, orca_partitioned, const long long *along);
void orca_distribute_on_list(orca_at, orca_partitioned, const orca_array1 *cpus,
                             const long long *along);
void orca_distribute(orca_at, orca_partitioned, const orca_array1 *owners);
/* The same. Fewer owners than parts are machines that get runs of neighbouring parts. */
void orca_distribution(orca_at, orca_partitioned, const orca_array1 *owners);

/* Runs a parallel operation on all elements here, within a sequential operation. */
void orca_view_run(struct orca_view *, const struct orca_array_operation *, void *arguments);
/* Makes the elements of a part be there; makes them a copy that may be changed. */
char *orca_view_fetch(struct orca_view *, uint64_t part);
char *orca_view_change(struct orca_view *, uint64_t part);
/* Takes a part's share of an array with one value an element. */
bool orca_gather(struct orca_view *, const struct orca_type *, void *array, bool is_first,
                 struct orca_reader *);

/* Returns the element at the indices x, y, z, which count from 0. */
ORCA_INLINE char *orca_element(struct orca_view *view, size_t size, uint64_t x, uint64_t y,
                               uint64_t z, bool changes)
{
    const struct orca_along a = view->along[0][x], b = view->along[1][y], c = view->along[2][z];
    const uint64_t number = a.part + view->counts[0] * (b.part + view->counts[1] * c.part);
    const struct orca_part *part = &view->parts[number];
    char *elements = part->elements;
    if (changes) {
        if (ORCA_UNLIKELY(!part->is_changed))
            elements = orca_view_change(view, number);
    } else if (ORCA_UNLIKELY(!elements))
        elements = orca_view_fetch(view, number);
    return elements + size * ((a.at * part->length[1] + b.at) * part->length[2] + c.at);
}
ORCA_INLINE char *orca_element1(struct orca_view *view, size_t size, bool changes, orca_at at,
                                long long i)
{
    const uint64_t x = orca_place(&view->dimension[0], i, 1, at);
    return orca_element(view, size, x, 0, 0, changes);
}
ORCA_INLINE char *orca_element2(struct orca_view *view, size_t size, bool changes, orca_at at,
                                long long i, long long j)
{
    const uint64_t x = orca_place(&view->dimension[0], i, 1, at);
    const uint64_t y = orca_place(&view->dimension[1], j, 2, at);
    return orca_element(view, size, x, y, 0, changes);
}
ORCA_INLINE char *orca_element3(struct orca_view *view, size_t size, bool changes, orca_at at,
                                long long i, long long j, long long k)
{
    const uint64_t x = orca_place(&view->dimension[0], i, 1, at);
    const uint64_t y = orca_place(&view->dimension[1], j, 2, at);
    const uint64_t z = orca_place(&view->dimension[2], k, 3, at);
    return orca_element(view, size, x, y, z, changes);
}

/* Marks the part of an element as one that is read. Indices outside of the object are left out. */
ORCA_INLINE void orca_need(struct orca_view *view, long long i, long long j, long long k)
{
    const struct orca_dimension *d = view->dimension;
    const uint64_t x = (uint64_t)i - (uint64_t)d[0].low, y = (uint64_t)j - (uint64_t)d[1].low,
                   z = (uint64_t)k - (uint64_t)d[2].low;
    if (x >= d[0].count || y >= d[1].count || z >= d[2].count)
        return;
    const struct orca_along a = view->along[0][x], b = view->along[1][y], c = view->along[2][z];
    view->needed[a.part + view->counts[0] * (b.part + view->counts[1] * c.part)] = 1;
}

/* ---- processes ---------------------------------------------------------------------------- */

/* The arguments of a process to fork. */
struct orca_fork {
    struct orca_writer arguments;
    void **handles; /* of shared objects, in the order of the arguments */
    size_t count, capacity;
};
/* Adds an object, or an array of objects, which is shared from now on. */
void orca_fork_shared(struct orca_fork *, const struct orca_type *, void *value);
/* Starts process `number`, on a machine if `has_cpu`. */
void orca_fork_start(orca_at, struct orca_fork *, uint32_t number, bool has_cpu, int64_t cpu);
/* Take an argument, into memory of zeros. */
void orca_get_argument(const struct orca_type *, void *value, struct orca_reader *);
void orca_get_shared(const struct orca_type *, void *value, struct orca_reader *);

struct orca_process {
    const char *name;
    void (*run)(struct orca_reader *arguments);
};

struct orca_program {
    void (*begin)(void); /* data modules */
    void (*main)(struct orca_reader *arguments);
    const struct orca_object_type *const *object_types;
    uint32_t object_type_count;
    const struct orca_process *processes;
    uint32_t process_count;
    const struct orca_array_type *const *array_types;
    uint32_t array_type_count;
};
/* Generated code defines it. */
extern const struct orca_program orca_program;

int32_t orca_ncpus(void);
int32_t orca_mycpu(void);

#endif
