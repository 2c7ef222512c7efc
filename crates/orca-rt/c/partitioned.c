/* Partitioned objects: the elements of their parts, and variables that hold them. */
#include <stdlib.h>

#include "internal.h"
#include "orca.h"
#include "partitioned.h"

/* ---- in Rust ------------------------------------------------------------------------------ */

/* Creates an array that is not distributed. Returns its handle. */
void *orca_array_create(const struct orca_array_type *, const struct orca_dimension *, orca_at);
/* Creates or distributes an array, and runs the initial code. Without `along`, `machines` are the
 * owners of its parts. Returns its handle. */
void *orca_array_distribute(void *handle, const struct orca_array_type *,
                            const struct orca_dimension *, const int64_t *parts,
                            const int32_t *machines, size_t count, const long long *along, orca_at);
void orca_array_invoke(void *handle, const struct orca_array_type *, uint32_t operation,
                       const uint8_t *bytes, size_t size, void *arguments, orca_at);
/* Returns whether an array is distributed. Stores its bounds and its numbers of parts. */
bool orca_array_shape(void *handle, struct orca_dimension *, int64_t *parts);
/* Writes the owners of the parts, and all elements. */
void orca_array_put(void *handle, const struct orca_array_type *, struct orca_writer *);
/* Creates or distributes an array, and gives it what orca_array_put has written. */
void *orca_array_restore(void *handle, const struct orca_array_type *, const struct orca_dimension *,
                         struct orca_reader *);
void orca_shared_release(void *handle);
/* Returns the elements of a part, or null if they cannot be fetched. */
char *orca_array_part(struct orca_view *, uint64_t part);

/* ---- elements of a part ---------------------------------------------------------------------- */

/* Returns the bytes of a type's numbers, or 0 if there is something else in it. */
static size_t bytes_of_numbers(const struct orca_type *type)
{
    size_t sum = 0;
    if (type->kind == ORCA_INTEGER || type->kind == ORCA_REAL)
        return type->size;
    if (type->kind != ORCA_RECORD)
        return 0;
    for (uint32_t i = 0; i < type->count; i++) {
        size_t bytes = bytes_of_numbers(type->fields[i].type);
        if (!bytes)
            return 0;
        sum += bytes;
    }
    return sum;
}

/* Whether the bytes in memory are those of the format: no padding, and any bytes are a value. */
static bool is_packed(const struct orca_type *type)
{
    return bytes_of_numbers(type) == type->size;
}

char *orca_elements_new(const struct orca_type *type, size_t count)
{
    char *elements = orca_allocate(NULL, count ? count : 1, type->size);
    if (type->has_init)
        for (size_t i = 0; i < count; i++)
            orca_init(type, elements + i * type->size);
    return elements;
}

char *orca_elements_copy(const struct orca_type *type, const char *from, size_t count)
{
    char *copy = orca_allocate(NULL, count ? count : 1, type->size);
    if (type->is_plain) {
        memcpy(copy, from, count * type->size);
        return copy;
    }
    for (size_t i = 0; i < count; i++)
        orca_copy(type, copy + i * type->size, from + i * type->size);
    return copy;
}

void orca_elements_free(const struct orca_type *type, char *elements, size_t count)
{
    if (!elements)
        return;
    if (!type->is_plain)
        for (size_t i = 0; i < count; i++)
            orca_destroy(type, elements + i * type->size);
    orca_free(elements);
}

void orca_elements_put(const struct orca_type *type, const char *elements, size_t count,
                       struct orca_writer *writer)
{
    if (is_packed(type)) {
        orca_put_bytes(writer, elements, count * type->size);
        return;
    }
    for (size_t i = 0; i < count; i++)
        orca_put(type, elements + i * type->size, writer);
}

bool orca_elements_get(const struct orca_type *type, char *elements, size_t count,
                       struct orca_reader *reader)
{
    if (is_packed(type))
        return orca_get_bytes(reader, elements, count * type->size);
    for (size_t i = 0; i < count; i++)
        if (!orca_get(type, elements + i * type->size, reader))
            return false;
    return true;
}

/* ---- views ----------------------------------------------------------------------------------- */

static size_t elements_of(const struct orca_part *part)
{
    return part->length[0] * part->length[1] * part->length[2];
}

/* An operation that misses elements ends here: the program is over, or a machine is gone. */
char *orca_view_fetch(struct orca_view *view, uint64_t number)
{
    char *elements = orca_array_part(view, number);
    if (!elements)
        orca_unwind();
    return elements;
}

struct execution {
    const struct orca_array_operation *operation;
    void *arguments;
    struct orca_writer *writer;
    struct orca_reader *reader;
    bool is_read;
};

static int run(void *view, void *context)
{
    struct execution *it = context;
    it->operation->run(view, it->arguments, it->writer);
    return ORCA_DONE;
}

bool orca_view_execute(struct orca_view *view, const struct orca_array_operation *operation,
                       void *arguments, struct orca_writer *result)
{
    struct execution it = {.operation = operation, .arguments = arguments, .writer = result};
    return orca_attempt(run, view, &it) == ORCA_DONE;
}

static int initialise(void *context, void *nothing)
{
    struct orca_view *view = context;
    (void)nothing;
    if (view->type->init)
        view->type->init(view);
    return ORCA_DONE;
}

bool orca_view_init(struct orca_view *view)
{
    return orca_attempt(initialise, view, NULL) == ORCA_DONE;
}

char *orca_view_change(struct orca_view *view, uint64_t number)
{
    struct orca_part *part = &view->parts[number];
    const char *before = part->elements ? part->elements : orca_view_fetch(view, number);
    if (!part->is_changed) {
        part->elements = orca_elements_copy(view->type->element, before, elements_of(part));
        part->is_changed = true;
    }
    return part->elements;
}

/* All parts run before the first one changes. */
void orca_view_run(struct orca_view *view, const struct orca_array_operation *operation,
                   void *arguments)
{
    const struct orca_type *type = view->type->element;
    struct orca_writer *shares = orca_allocate(NULL, view->part_count, sizeof *shares);
    char **after = orca_allocate(NULL, view->part_count, sizeof *after);
    for (uint64_t i = 0; i < view->part_count; i++) {
        struct orca_part *part = &view->parts[i];
        char *before = part->elements ? part->elements : orca_view_fetch(view, i);
        view->part = i;
        view->own = before;
        if (operation->writes)
            view->own = after[i] = orca_elements_copy(type, before, elements_of(part));
        operation->run(view, arguments, &shares[i]);
    }
    for (uint64_t i = 0; i < view->part_count; i++) {
        struct orca_part *part = &view->parts[i];
        struct orca_reader reader = {shares[i].bytes, shares[i].bytes + shares[i].length, NULL};
        view->part = i;
        if (operation->collect && !operation->collect(view, arguments, i == 0, &reader))
            orca_fail(NULL, ORCA_SYSTEM_ERROR, "the result of an operation is malformed", "%s",
                      reader.wrong);
        orca_free(shares[i].bytes);
        if (!operation->writes)
            continue;
        if (part->is_changed)
            orca_elements_free(type, part->elements, elements_of(part));
        part->elements = after[i];
        part->is_changed = true;
    }
    orca_free(shares);
    orca_free(after);
}

bool orca_gather(struct orca_view *view, const struct orca_type *type, void *array, bool is_first,
                 struct orca_reader *reader)
{
    const struct orca_type *element = type->element;
    const struct orca_part *part = &view->parts[view->part];
    const struct orca_dimension *d = view->dimension;
    if (is_first) {
        long long bounds[2 * ORCA_MOST_SHAPE];
        for (int i = 0; i < type->dimensions; i++) {
            bounds[2 * i] = d[i].low;
            bounds[2 * i + 1] = d[i].low + (long long)d[i].count - 1;
        }
        orca_destroy(type, array);
        orca_array_init(NULL, type, array, 1, bounds);
    }
    for (uint64_t x = part->from[0]; x < part->from[0] + part->length[0]; x++)
        for (uint64_t y = part->from[1]; y < part->from[1] + part->length[1]; y++)
            for (uint64_t z = part->from[2]; z < part->from[2] + part->length[2]; z++) {
                const uint64_t place = (x * d[1].count + y) * d[2].count + z;
                char *to = orca_data(array) + place * element->size;
                orca_destroy(element, to);
                if (!orca_get(element, to, reader))
                    return false;
            }
    return true;
}

/* Calls a function with each element, the last dimension first, until it returns false. */
static bool for_each(struct orca_view *view, bool changes,
                     bool (*visit)(const struct orca_type *, char *element, void *context),
                     void *context)
{
    const struct orca_type *type = view->type->element;
    const struct orca_dimension *d = view->dimension;
    for (uint64_t x = 0; x < d[0].count; x++)
        for (uint64_t y = 0; y < d[1].count; y++)
            for (uint64_t z = 0; z < d[2].count; z++)
                if (!visit(type, orca_element(view, type->size, x, y, z, changes), context))
                    return false;
    return true;
}

static bool put_element(const struct orca_type *type, char *element, void *writer)
{
    orca_put(type, element, writer);
    return true;
}

static bool get_element(const struct orca_type *type, char *element, void *reader)
{
    orca_destroy(type, element);
    return orca_get(type, element, reader);
}

static int put_all(void *view, void *writer)
{
    for_each(view, false, put_element, writer);
    return ORCA_DONE;
}

static int get_all(void *view, void *context)
{
    struct execution *it = context;
    it->is_read = for_each(view, true, get_element, it->reader);
    return ORCA_DONE;
}

bool orca_view_put(struct orca_view *view, struct orca_writer *writer)
{
    return orca_attempt(put_all, view, writer) == ORCA_DONE;
}

bool orca_view_get(struct orca_view *view, struct orca_reader *reader)
{
    struct execution it = {.reader = reader};
    return orca_attempt(get_all, view, &it) == ORCA_DONE && it.is_read;
}

/* ---- variables ------------------------------------------------------------------------------- */

static orca_partitioned variable_of(const struct orca_array_type *type)
{
    orca_partitioned object = orca_allocate(NULL, 1, sizeof *object);
    object->type = type;
    return object;
}

orca_partitioned orca_partitioned_new(orca_at place, const struct orca_array_type *type,
                                      const long long *bounds)
{
    orca_partitioned object = variable_of(type);
    (void)place;
    if (!bounds)
        return object;
    for (int i = 0; i < ORCA_MOST_SHAPE; i++) {
        const bool is_own = i < type->dimensions;
        const long long low = is_own ? bounds[2 * i] : 0, high = is_own ? bounds[2 * i + 1] : 0;
        const uint64_t count = high < low ? 0 : (uint64_t)high - (uint64_t)low + 1;
        object->dimension[i] = (struct orca_dimension){low, count};
    }
    return object;
}

static bool has_bounds(orca_partitioned object)
{
    return object->dimension[0].count && object->dimension[1].count && object->dimension[2].count;
}

static void need_bounds(orca_at place, orca_partitioned object)
{
    if (!has_bounds(object))
        orca_fail(place, ORCA_ERROR, "partitioned object without elements",
                  "a variable of type %s has no bounds, or empty ones", object->type->name);
}

/* Others may have distributed it since. */
static bool is_distributed(orca_partitioned object)
{
    return object->handle && orca_array_shape(object->handle, object->dimension, object->parts);
}

void orca_partitioned_invoke(orca_at place, orca_partitioned object, uint32_t number,
                             void *arguments)
{
    const struct orca_array_operation *operation = &object->type->operations[number];
    if (!is_distributed(object))
        orca_fail(place, ORCA_ERROR, "partitioned object is not distributed",
                  "operation %s of %s needs $$partition and a distribution before", operation->name,
                  object->type->name);
    struct orca_writer buffer = {0};
    operation->put(arguments, &buffer);
    orca_array_invoke(object->handle, object->type, number, buffer.bytes, buffer.length, arguments,
                      place);
    orca_free(buffer.bytes);
}

void orca_partition(orca_at place, orca_partitioned object, const long long *parts)
{
    need_bounds(place, object);
    for (int i = 0; i < ORCA_MOST_SHAPE; i++) {
        const bool is_own = i < object->type->dimensions;
        const uint64_t length = object->dimension[i].count;
        if (is_own && (parts[i] < 1 || (uint64_t)parts[i] > length))
            orca_fail(place, ORCA_ERROR, "illegal partition",
                      "dimension %d has %llu elements, and they are divided into %lld parts", i + 1,
                      (unsigned long long)length, parts[i]);
        object->parts[i] = is_own ? parts[i] : 1;
    }
}

static void distribute(orca_at place, orca_partitioned object, const int32_t *machines, size_t count,
                       const long long *along)
{
    need_bounds(place, object);
    if (!object->parts[0])
        orca_fail(place, ORCA_ERROR, "partitioned object is not partitioned",
                  "$$partition comes before the distribution of %s", object->type->name);
    for (size_t i = 0; i < count; i++)
        if (machines[i] < 0 || machines[i] >= orca_ncpus())
            orca_bad_cpu(place, machines[i], orca_ncpus());
    object->handle = orca_array_distribute(object->handle, object->type, object->dimension,
                                           object->parts, machines, count, along, place);
}

/* Returns the number of machines of a grid. */
static size_t grid_of(orca_at place, const struct orca_array_type *type, const long long *along)
{
    long long count = 1;
    for (int i = 0; i < type->dimensions; i++) {
        const long long machines = along[2 * i], kind = along[2 * i + 1];
        if (machines < 1 || machines > orca_ncpus())
            orca_bad_cpu(place, machines - 1, orca_ncpus());
        if (kind != 0 && kind != 1)
            orca_fail(place, ORCA_ERROR, "illegal distribution",
                      "dimension %d is distributed by %lld, which is not BLOCK or CYCLIC", i + 1,
                      kind);
        count *= machines;
        if (count > orca_ncpus())
            orca_bad_cpu(place, count - 1, orca_ncpus());
    }
    return (size_t)count;
}

void orca_distribute_on_n(orca_at place, orca_partitioned object, const long long *along)
{
    const size_t count = grid_of(place, object->type, along);
    int32_t *machines = orca_allocate(place, count, sizeof *machines);
    for (size_t i = 0; i < count; i++)
        machines[i] = (int32_t)i;
    distribute(place, object, machines, count, along);
    orca_free(machines);
}

void orca_distribute_on_list(orca_at place, orca_partitioned object, const orca_array1 *cpus,
                             const long long *along)
{
    const size_t count = grid_of(place, object->type, along), given = cpus->dimension[0].count;
    if (given < count)
        orca_fail(place, ORCA_ERROR, "illegal distribution",
                  "%zu machines are asked for, and the list has %zu", count, given);
    distribute(place, object, cpus->data, given, along);
}

static size_t parts_of(orca_partitioned object)
{
    return (size_t)(object->parts[0] * object->parts[1] * object->parts[2]);
}

void orca_distribute(orca_at place, orca_partitioned object, const orca_array1 *owners)
{
    const size_t given = owners->dimension[0].count;
    const size_t parts = parts_of(object);
    if (object->parts[0] && given != parts)
        orca_fail(place, ORCA_ERROR, "illegal distribution",
                  "there are %zu parts, and owners of %zu", parts, given);
    distribute(place, object, owners->data, given, NULL);
}

void orca_distribution(orca_at place, orca_partitioned object, const orca_array1 *list)
{
    const size_t given = list->dimension[0].count;
    const size_t parts = parts_of(object);
    if (given >= parts || !given) {
        orca_distribute(place, object, list);
        return;
    }
    /* The first machines have one part more. */
    const size_t each = parts / given, longer = parts % given;
    const int32_t *cpus = list->data;
    int32_t *owners = orca_allocate(place, parts, sizeof *owners);
    for (size_t i = 0, part = 0; i < given; i++)
        for (size_t k = 0; k < each + (i < longer); k++)
            owners[part++] = cpus[i];
    distribute(place, object, owners, parts, NULL);
    orca_free(owners);
}

/* ---- values ----------------------------------------------------------------------------------- */

static void destroy(const struct orca_type *type, void *value)
{
    orca_partitioned *object = value;
    (void)type;
    if (!*object)
        return;
    if ((*object)->handle)
        orca_shared_release((*object)->handle);
    orca_free(*object);
    *object = NULL;
}

static void put(const struct orca_type *type, const void *value, struct orca_writer *writer)
{
    orca_partitioned object = *(const orca_partitioned *)value;
    (void)type;
    const bool is_distant = object && is_distributed(object);
    const uint8_t kind = !object ? 0 : is_distant ? 2 : 1;
    orca_put_bytes(writer, &kind, 1);
    if (!object)
        return;
    orca_put_bytes(writer, object->dimension, sizeof object->dimension);
    orca_put_bytes(writer, object->parts, sizeof object->parts);
    if (is_distant)
        orca_array_put(object->handle, object->type, writer);
}

/* Reads what `put` has written into an object, which may have a handle. */
static bool take(orca_partitioned object, uint8_t kind, struct orca_reader *reader)
{
    struct orca_dimension dimension[ORCA_MOST_SHAPE];
    int64_t parts[ORCA_MOST_SHAPE];
    if (!orca_get_bytes(reader, dimension, sizeof dimension) ||
        !orca_get_bytes(reader, parts, sizeof parts))
        return false;
    if (object->handle || has_bounds(object)) {
        for (int i = 0; i < ORCA_MOST_SHAPE; i++)
            if (object->dimension[i].count != dimension[i].count)
                orca_fail(NULL, ORCA_ERROR, "partitioned objects have different sizes",
                          "dimension %d has %llu elements, not %llu", i + 1,
                          (unsigned long long)object->dimension[i].count,
                          (unsigned long long)dimension[i].count);
    } else
        memcpy(object->dimension, dimension, sizeof dimension);
    memcpy(object->parts, parts, sizeof parts);
    if (kind == 2)
        object->handle = orca_array_restore(object->handle, object->type, object->dimension, reader);
    return kind == 1 || object->handle;
}

static bool get(const struct orca_type *type, void *to, struct orca_reader *reader)
{
    orca_partitioned *object = to;
    uint8_t kind;
    *object = NULL;
    if (!orca_get_bytes(reader, &kind, 1))
        return false;
    if (!kind)
        return true;
    *object = variable_of(type->data);
    if (kind <= 2 && take(*object, kind, reader))
        return true;
    destroy(type, object);
    return false;
}

/* The target keeps its identity and its bounds. */
static void assign(const struct orca_type *type, void *to, const void *from)
{
    orca_partitioned *target = to, source = *(const orca_partitioned *)from;
    struct orca_writer buffer = {0};
    uint8_t kind;
    if (*target == source || !source)
        return;
    if (!*target)
        *target = variable_of(source->type);
    put(type, from, &buffer);
    struct orca_reader reader = {buffer.bytes, buffer.bytes + buffer.length, NULL};
    if (!orca_get_bytes(&reader, &kind, 1) || !take(*target, kind, &reader))
        orca_fail(NULL, ORCA_SYSTEM_ERROR, "the state of an object is malformed", "%s",
                  reader.wrong);
    orca_free(buffer.bytes);
}

static void copy(const struct orca_type *type, void *to, const void *from)
{
    *(orca_partitioned *)to = NULL;
    assign(type, to, from);
}

static void init(const struct orca_type *type, void *value)
{
    *(orca_partitioned *)value = orca_partitioned_new(NULL, type->data, NULL);
}

const struct orca_custom orca_partitioned_custom = {init, copy, assign, destroy, put, get};

/* ---- arguments of processes ------------------------------------------------------------------- */

void *orca_partitioned_share(void *value)
{
    orca_partitioned object = *(orca_partitioned *)value;
    if (!object->handle) {
        need_bounds(NULL, object);
        object->handle = orca_array_create(object->type, object->dimension, NULL);
    }
    return object->handle;
}

void orca_partitioned_receive(const struct orca_type *type, void *value, void *handle)
{
    orca_partitioned object = variable_of(type->data);
    object->handle = handle;
    is_distributed(object);
    *(orca_partitioned *)value = object;
}
