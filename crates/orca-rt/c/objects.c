/* Objects: their states in this process, and handles of shared ones. */
#include <stdlib.h>

#include "internal.h"
#include "orca.h"
#include "partitioned.h"

/* ---- in Rust ------------------------------------------------------------------------------ */

void *orca_shared_create(const struct orca_object_type *, const uint8_t *state, size_t size);
void *orca_shared_clone(void *handle);
void orca_shared_release(void *handle);
/* Executes an operation by its number. After the type's own come COPY and ASSIGN. */
void orca_shared_invoke(void *handle, uint32_t operation, const uint8_t *arguments, size_t size,
                        struct orca_writer *result, orca_at);
/* Tries to read the copy here, without bytes. Returns whether an alternative was open. */
bool orca_shared_read(void *handle, uint32_t number, const struct orca_operation *,
                      void *arguments);
void orca_shared_strategy(void *handle, int replicate, int cpu, orca_at);
/* Takes the handle of the next shared argument. */
void *orca_shared_argument(void);
void orca_shared_fork(uint32_t process, bool has_cpu, int64_t cpu, const uint8_t *arguments,
                      size_t size, void *const *handles, size_t count, orca_at);

/* ---- values ------------------------------------------------------------------------------- */

static orca_object object_of(const struct orca_object_type *type)
{
    orca_object object = orca_allocate(NULL, 1, sizeof *object);
    object->type = type;
    return object;
}

static void *state_of_zeros(const struct orca_object_type *type)
{
    return orca_allocate(NULL, 1, type->state->size);
}

orca_object orca_object_new(const struct orca_object_type *type)
{
    orca_object object = object_of(type);
    object->state = state_of_zeros(type);
    type->init(object->state);
    return object;
}

static void drop_state(orca_object object)
{
    if (!object->state)
        return;
    orca_destroy(object->type->state, object->state);
    orca_free(object->state);
    object->state = NULL;
}

/* Appends the state of an object, wherever it is. */
static void pack_state(orca_object object, struct orca_writer *buffer)
{
    if (object->handle)
        orca_shared_invoke(object->handle, object->type->count, NULL, 0, buffer, NULL);
    else
        orca_put(object->type->state, object->state, buffer);
}

static void *unpack_state(const struct orca_object_type *type, struct orca_reader *reader)
{
    void *state = state_of_zeros(type);
    if (orca_get(type->state, state, reader))
        return state;
    orca_free(state);
    return NULL;
}

static void copy(const struct orca_type *type, void *to, const void *from)
{
    orca_object old = *(const orca_object *)from;
    orca_object *fresh = to;
    (void)type;
    *fresh = NULL;
    if (!old)
        return;
    *fresh = object_of(old->type);
    if (!old->handle) {
        (*fresh)->state = state_of_zeros(old->type);
        orca_copy(old->type->state, (*fresh)->state, old->state);
        return;
    }
    struct orca_writer buffer = {0};
    pack_state(old, &buffer);
    struct orca_reader reader = {buffer.bytes, buffer.bytes + buffer.length, NULL};
    (*fresh)->state = unpack_state(old->type, &reader);
    if (!(*fresh)->state)
        orca_fail(NULL, ORCA_SYSTEM_ERROR, "the state of an object is malformed", "%s",
                  reader.wrong);
    orca_free(buffer.bytes);
}

/* A shared object keeps its identity: its state changes for all that share it. */
static void assign(const struct orca_type *type, void *to, const void *from)
{
    orca_object *target = to, source = *(const orca_object *)from;
    if (*target == source || !source)
        return;
    if (!*target) {
        copy(type, to, from);
        return;
    }
    if ((*target)->handle) {
        struct orca_writer buffer = {0}, nothing = {0};
        pack_state(source, &buffer);
        orca_shared_invoke((*target)->handle, (*target)->type->count + 1, buffer.bytes, buffer.length,
                           &nothing, NULL);
        orca_free(buffer.bytes);
        orca_free(nothing.bytes);
        return;
    }
    orca_object fresh;
    copy(type, &fresh, from);
    drop_state(*target);
    (*target)->state = fresh->state;
    orca_free(fresh);
}

static void destroy(const struct orca_type *type, void *value)
{
    orca_object *object = value;
    (void)type;
    if (!*object)
        return;
    drop_state(*object);
    if ((*object)->handle)
        orca_shared_release((*object)->handle);
    orca_free(*object);
    *object = NULL;
}

static void put(const struct orca_type *type, const void *value, struct orca_writer *buffer)
{
    orca_object object = *(const orca_object *)value;
    uint8_t is_there = object != NULL;
    (void)type;
    orca_put_bytes(buffer, &is_there, 1);
    if (object)
        pack_state(object, buffer);
}

static bool get(const struct orca_type *type, void *to, struct orca_reader *reader)
{
    orca_object *object = to;
    uint8_t is_there;
    *object = NULL;
    if (!orca_get_bytes(reader, &is_there, 1))
        return false;
    if (!is_there)
        return true;
    const struct orca_object_type *of = type->data;
    void *state = unpack_state(of, reader);
    if (!state)
        return false;
    *object = object_of(of);
    (*object)->state = state;
    return true;
}

static void init(const struct orca_type *type, void *value)
{
    *(orca_object *)value = orca_object_new(type->data);
}

const struct orca_custom orca_object_custom = {init, copy, assign, destroy, put, get};

/* ---- invocations -------------------------------------------------------------------------- */

static bool may_read(const struct orca_operation *operation)
{
    for (uint32_t i = 0; i < operation->count; i++)
        if (!operation->alternatives[i].writes)
            return !operation->does_io;
    return false;
}

/* Tries the alternatives that only read, for the run-time. */
bool orca_read(const struct orca_operation *operation, void *state, void *arguments)
{
    for (uint32_t i = 0; i < operation->count; i++) {
        const struct orca_alternative *it = &operation->alternatives[i];
        if (it->writes)
            continue;
        int outcome = it->may_block ? orca_attempt(it->run, state, arguments)
                                    : it->run(state, arguments);
        if (outcome == ORCA_DONE)
            return true;
    }
    return false;
}

void orca_object_invoke(orca_at place, orca_object object, uint32_t number, void *arguments)
{
    const struct orca_operation *operation = &object->type->operations[number];
    if (may_read(operation) && orca_shared_read(object->handle, number, operation, arguments))
        return;
    struct orca_writer buffer = {0}, result = {0};
    operation->put(arguments, &buffer);
    orca_shared_invoke(object->handle, number, buffer.bytes, buffer.length, &result, place);
    struct orca_reader reader = {result.bytes, result.bytes + result.length, NULL};
    if (!operation->get_result(arguments, &reader))
        orca_fail(place, ORCA_SYSTEM_ERROR, "the result of an operation is malformed", "%s",
                  reader.wrong);
    orca_free(buffer.bytes);
    orca_free(result.bytes);
}

/* Tries an alternative for the run-time, with arguments as bytes. */
int orca_step(const struct orca_operation *operation, uint32_t alternative, void *state,
              struct orca_reader *reader, struct orca_writer *result)
{
    void *arguments = orca_allocate(NULL, 1, operation->size);
    int outcome = ORCA_MALFORMED;
    if (operation->get(arguments, reader)) {
        const struct orca_alternative *it = &operation->alternatives[alternative];
        outcome = orca_attempt(it->run, state, arguments);
    }
    if (outcome == ORCA_DONE)
        operation->put_result(arguments, result);
    operation->drop(arguments);
    orca_free(arguments);
    return outcome;
}

static void share(orca_object object)
{
    if (object->handle)
        return;
    struct orca_writer buffer = {0};
    orca_put(object->type->state, object->state, &buffer);
    object->handle = orca_shared_create(object->type, buffer.bytes, buffer.length);
    orca_free(buffer.bytes);
    drop_state(object);
}

void orca_object_strategy(orca_at place, orca_object object, int replicate, int cpu)
{
    if (cpu < 0 || cpu >= orca_ncpus())
        orca_bad_cpu(place, cpu, orca_ncpus());
    share(object);
    orca_shared_strategy(object->handle, replicate, cpu, place);
}

/* ---- arguments of processes ---------------------------------------------------------------- */

static void add_handle(struct orca_fork *fork, void *handle)
{
    if (fork->count == fork->capacity) {
        fork->capacity = fork->capacity * 2 + 4;
        void **more = realloc(fork->handles, fork->capacity * sizeof *more);
        if (!more)
            orca_runtime_error(NULL, ORCA_LIMIT, "out of memory", "");
        fork->handles = more;
    }
    fork->handles[fork->count++] = handle;
}

/* The most elements of an array of objects whose handles may come. */
enum { MOST_SHARED = 1 << 30 };

/* An array of objects is its dimensions, and the handles of its elements. */
void orca_fork_shared(struct orca_fork *fork, const struct orca_type *type, void *value)
{
    if (type->custom == &orca_partitioned_custom) {
        add_handle(fork, orca_partitioned_share(value));
        return;
    }
    if (type->kind == ORCA_CUSTOM) {
        orca_object object = *(orca_object *)value;
        share(object);
        add_handle(fork, object->handle);
        return;
    }
    const orca_array1 *array = value;
    const size_t count = orca_elements(type, array);
    orca_put_dimensions(type, array, &fork->arguments);
    for (size_t i = 0; i < count; i++)
        orca_fork_shared(fork, type->element, (char *)array->data + i * type->element->size);
}

void orca_get_shared(const struct orca_type *type, void *value, struct orca_reader *reader)
{
    if (type->custom == &orca_partitioned_custom) {
        orca_partitioned_receive(type, value, orca_shared_argument());
        return;
    }
    if (type->kind == ORCA_CUSTOM) {
        orca_object object = object_of(type->data);
        object->handle = orca_shared_argument();
        *(orca_object *)value = object;
        return;
    }
    orca_array1 *array = value;
    size_t count;
    if (!orca_get_dimensions(type, array, MOST_SHARED, reader, &count))
        orca_fail(NULL, ORCA_SYSTEM_ERROR, "the arguments of a process are malformed", "%s",
                  reader->wrong);
    if (count)
        array->data = orca_allocate(NULL, count, type->element->size);
    for (size_t i = 0; i < count; i++)
        orca_get_shared(type->element, (char *)array->data + i * type->element->size, reader);
}

void orca_get_argument(const struct orca_type *type, void *value, struct orca_reader *reader)
{
    if (!orca_get(type, value, reader))
        orca_fail(NULL, ORCA_SYSTEM_ERROR, "the arguments of a process are malformed", "%s",
                  reader->wrong);
}

void orca_fork_start(orca_at place, struct orca_fork *fork, uint32_t number, bool has_cpu,
                     int64_t cpu)
{
    if (has_cpu && (cpu < 0 || cpu >= orca_ncpus()))
        orca_bad_cpu(place, cpu, orca_ncpus());
    orca_shared_fork(number, has_cpu, cpu, fork->arguments.bytes, fork->arguments.length,
                     fork->handles, fork->count, place);
    orca_free(fork->arguments.bytes);
    free(fork->handles);
}
