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
};
/* Generated code defines it. */
extern const struct orca_program orca_program;

int32_t orca_ncpus(void);
int32_t orca_mycpu(void);

#endif
