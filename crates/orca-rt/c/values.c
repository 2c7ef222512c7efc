/* Values of any type, by their descriptors: copies, equality, destruction, containment. */
#include <stdlib.h>

#include "internal.h"

#define PLAIN(id, own_name, own_kind, own_size, own_count)                                        \
    const struct orca_type id = {.name = own_name, .kind = own_kind, .is_plain = true,            \
                                 .size = own_size, .count = own_count}
PLAIN(orca_type_integer, "integer", ORCA_INTEGER, 4, 0);
PLAIN(orca_type_shortint, "shortint", ORCA_INTEGER, 2, 0);
PLAIN(orca_type_longint, "longint", ORCA_INTEGER, 8, 0);
PLAIN(orca_type_real, "real", ORCA_REAL, 8, 0);
PLAIN(orca_type_shortreal, "shortreal", ORCA_REAL, 4, 0);
PLAIN(orca_type_boolean, "boolean", ORCA_CHOICE, 1, 2);
PLAIN(orca_type_char, "char", ORCA_CHOICE, 1, 256);
PLAIN(orca_type_node, "NODENAME", ORCA_NODE, sizeof(orca_node), 0);
PLAIN(orca_type_function, "FUNCTION", ORCA_FUNCTION, sizeof(orca_function), 0);
const struct orca_type orca_type_string = {.name = "string", .kind = ORCA_ARRAY, .dimensions = 1,
                                           .size = sizeof(orca_array1),
                                           .element = &orca_type_char};

void *orca_allocate(orca_at at, size_t count, size_t size)
{
    size_t bytes;
    void *memory = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes) && bytes <= PTRDIFF_MAX)
        memory = calloc(bytes ? bytes : 1, 1);
    if (ORCA_UNLIKELY(!memory))
        orca_fail(at, ORCA_LIMIT, "out of memory", "%zu times %zu bytes are asked for", count,
                  size);
    return memory;
}

void orca_free(void *memory) { free(memory); }

/* Makes the initial value of zeros. */
static void init_zeros(const struct orca_type *type, void *value)
{
    if (!type->has_init)
        return;
    if (type->init) {
        type->init(value);
        return;
    }
    if (type->kind == ORCA_CUSTOM) {
        type->custom->init(type, value);
        return;
    }
    if (type->kind != ORCA_RECORD && type->kind != ORCA_GRAPH)
        return;
    for (uint32_t i = 0; i < type->count; i++) {
        const struct orca_field *field = &type->fields[i];
        if (field->init)
            field->init(orca_field_of(field, value));
        else
            init_zeros(field->type, orca_field_of(field, value));
    }
}

void orca_init(const struct orca_type *type, void *value)
{
    memset(value, 0, type->size);
    init_zeros(type, value);
}

/* ---- arrays ------------------------------------------------------------------------------- */

size_t orca_elements(const struct orca_type *type, const void *array)
{
    size_t size = 1;
    for (int32_t d = 0; d < type->dimensions; d++)
        size *= (size_t)orca_dimensions(array)[d].count;
    return size;
}

int32_t orca_array_size(const struct orca_type *type, const void *array)
{
    return (int32_t)orca_elements(type, array);
}

/* Sets the dimensions. Returns how many elements they have. */
static size_t set_dimensions(orca_at at, const struct orca_type *type, void *array,
                             const long long *bounds)
{
    struct orca_dimension *dimensions = orca_dimensions(array);
    size_t size = 1;
    bool is_empty = false, is_too_large = false;
    for (int32_t d = 0; d < type->dimensions; d++) {
        long long low = bounds[2 * d], high = bounds[2 * d + 1];
        dimensions[d].low = low;
        dimensions[d].count = high < low ? 0 : (unsigned long long)(high - low + 1);
        is_empty |= dimensions[d].count == 0;
        is_too_large |= __builtin_mul_overflow(size, dimensions[d].count, &size);
    }
    if (is_too_large && !is_empty)
        orca_fail(at, ORCA_LIMIT, "out of memory", "the bounds of an array are too far apart");
    return is_empty ? 0 : size;
}

void orca_array_init(orca_at at, const struct orca_type *type, void *array, int levels,
                     const long long *bounds)
{
    const struct orca_type *element = type->element;
    size_t size = set_dimensions(at, type, array, bounds);
    char *data = size ? orca_allocate(at, size, element->size) : NULL;
    ((orca_array1 *)array)->data = data;
    if (levels == 1 && !element->has_init)
        return;
    for (size_t i = 0; i < size; i++) {
        if (levels > 1)
            orca_array_init(at, element, data + i * element->size, levels - 1,
                            bounds + 2 * type->dimensions);
        else
            init_zeros(element, data + i * element->size);
    }
}

static void copy_array(const struct orca_type *type, void *to, const void *from)
{
    const struct orca_type *element = type->element;
    size_t size = orca_elements(type, from);
    /* The constant "" has an address and no element. */
    char *data = size ? orca_allocate(NULL, size, element->size) : NULL;
    memcpy(to, from, type->size);
    ((orca_array1 *)to)->data = data;
    if (!size)
        return;
    if (element->is_plain) {
        memcpy(data, orca_data(from), size * element->size);
        return;
    }
    for (size_t i = 0; i < size; i++)
        orca_copy(element, data + i * element->size, orca_data(from) + i * element->size);
}

/* Arrays of the same size keep their memory. */
static bool assign_array_in_place(const struct orca_type *type, void *to, const void *from)
{
    const struct orca_type *element = type->element;
    size_t size = orca_elements(type, from);
    if (orca_elements(type, to) != size)
        return false;
    memcpy(orca_dimensions(to), orca_dimensions(from),
           (size_t)type->dimensions * sizeof(struct orca_dimension));
    if (!size)
        return true;
    if (element->is_plain) {
        memcpy(orca_data(to), orca_data(from), size * element->size);
        return true;
    }
    for (size_t i = 0; i < size; i++)
        orca_assign(element, orca_data(to) + i * element->size,
                    orca_data(from) + i * element->size);
    return true;
}

/* Types of elements for which equality is equality of bytes. */
static bool has_only_bytes(const struct orca_type *type)
{
    return type->kind == ORCA_INTEGER || type->kind == ORCA_CHOICE;
}

static bool equal_arrays(const struct orca_type *type, const void *left, const void *right)
{
    const struct orca_type *element = type->element;
    size_t size = orca_elements(type, left);
    if (!size)
        return !orca_elements(type, right);
    if (memcmp(orca_dimensions(left), orca_dimensions(right),
               (size_t)type->dimensions * sizeof(struct orca_dimension)))
        return false;
    if (has_only_bytes(element))
        return !memcmp(orca_data(left), orca_data(right), size * element->size);
    for (size_t i = 0; i < size; i++)
        if (!orca_equal(element, orca_data(left) + i * element->size,
                        orca_data(right) + i * element->size))
            return false;
    return true;
}

void orca_string_set(orca_array1 *string, const char *bytes, size_t length)
{
    char *data = length ? orca_allocate(orca_here, length, 1) : NULL;
    if (length)
        memcpy(data, bytes, length);
    free(string->data);
    *string = (orca_array1){data, {{1, length}}};
}

char *orca_string_to_c(const orca_array1 *string)
{
    size_t length = string->dimension[0].count;
    char *copy = orca_allocate(orca_here, length + 1, 1);
    if (length)
        memcpy(copy, string->data, length);
    return copy;
}

/* ---- unions ------------------------------------------------------------------------------- */

const struct orca_field *orca_alternative(const struct orca_type *type, long long tag)
{
    for (uint32_t i = 0; i < type->count; i++)
        if (type->fields[i].tag == tag)
            return &type->fields[i];
    return NULL;
}

/* Returns the alternative that is set, or null. */
static const struct orca_field *alternative_of(const struct orca_type *type, const void *value)
{
    const orca_tag *tag = value;
    return tag->is_set ? orca_alternative(type, tag->value) : NULL;
}

void orca_union_init(orca_at at, const struct orca_type *type, void *value, long long tag)
{
    const struct orca_field *field = orca_alternative(type, tag);
    if (!field)
        orca_fail(at, ORCA_ERROR, "union error", "%s has no alternative %lld", type->name, tag);
    memset(value, 0, type->size);
    *(orca_tag *)value = (orca_tag){tag, true};
    if (field->init)
        field->init(orca_field_of(field, value));
    else
        init_zeros(field->type, orca_field_of(field, value));
}

static void copy_union(const struct orca_type *type, void *to, const void *from)
{
    const struct orca_field *field = alternative_of(type, from);
    memcpy(to, from, type->size);
    if (field)
        orca_copy(field->type, orca_field_of(field, to), orca_field_of(field, from));
}

static bool equal_unions(const struct orca_type *type, const void *left, const void *right)
{
    const struct orca_field *field = alternative_of(type, left);
    if (field != alternative_of(type, right))
        return false;
    return !field ||
           orca_equal(field->type, orca_field_of(field, left), orca_field_of(field, right));
}

/* ---- all types ---------------------------------------------------------------------------- */

void orca_copy(const struct orca_type *type, void *to, const void *from)
{
    if (type->is_plain) {
        memcpy(to, from, type->size);
        return;
    }
    switch (type->kind) {
    case ORCA_ARRAY:
        copy_array(type, to, from);
        return;
    case ORCA_UNION:
        copy_union(type, to, from);
        return;
    case ORCA_SET:
    case ORCA_BAG:
        orca_set_copy(type, to, from);
        return;
    case ORCA_GRAPH:
        orca_graph_copy(type, to, from);
        __attribute__((fallthrough));
    case ORCA_RECORD:
        for (uint32_t i = 0; i < type->count; i++)
            orca_copy(type->fields[i].type, orca_field_of(&type->fields[i], to),
                      orca_field_of(&type->fields[i], from));
        return;
    case ORCA_CUSTOM:
        type->custom->copy(type, to, from);
        return;
    default:
        memcpy(to, from, type->size);
    }
}

/* Makes the copy before it destroys the old value. */
static void replace(const struct orca_type *type, void *to, const void *from)
{
    void *copy = orca_allocate(NULL, 1, type->size);
    orca_copy(type, copy, from);
    orca_destroy(type, to);
    memcpy(to, copy, type->size);
    free(copy);
}

void orca_assign(const struct orca_type *type, void *to, const void *from)
{
    if (to == from)
        return;
    if (type->is_plain) {
        memcpy(to, from, type->size);
        return;
    }
    switch (type->kind) {
    case ORCA_ARRAY:
        if (!assign_array_in_place(type, to, from))
            replace(type, to, from);
        return;
    case ORCA_RECORD:
        for (uint32_t i = 0; i < type->count; i++)
            orca_assign(type->fields[i].type, orca_field_of(&type->fields[i], to),
                        orca_field_of(&type->fields[i], from));
        return;
    case ORCA_CUSTOM:
        type->custom->assign(type, to, from);
        return;
    default:
        replace(type, to, from);
    }
}

/* Whether an object in a variable may be shared, and stays itself when it gets another state. */
static bool holds_objects(const struct orca_type *type)
{
    if (type->is_plain)
        return false;
    if (type->kind == ORCA_ARRAY)
        return holds_objects(type->element);
    if (type->kind == ORCA_RECORD)
        for (uint32_t i = 0; i < type->count; i++)
            if (holds_objects(type->fields[i].type))
                return true;
    return type->kind == ORCA_CUSTOM;
}

void orca_move(const struct orca_type *type, void *to, void *from)
{
    if (to == from)
        return;
    if (holds_objects(type)) {
        orca_assign(type, to, from);
        orca_destroy(type, from);
        return;
    }
    orca_destroy(type, to);
    memcpy(to, from, type->size);
    memset(from, 0, type->size);
}

static void destroy_array(const struct orca_type *type, void *array)
{
    const struct orca_type *element = type->element;
    size_t size = element->is_plain ? 0 : orca_elements(type, array);
    for (size_t i = 0; i < size; i++)
        orca_destroy(element, orca_data(array) + i * element->size);
    free(orca_data(array));
}

void orca_destroy(const struct orca_type *type, void *value)
{
    const struct orca_field *field;
    if (!type->is_plain)
        switch (type->kind) {
        case ORCA_ARRAY:
            destroy_array(type, value);
            break;
        case ORCA_UNION:
            field = alternative_of(type, value);
            if (field)
                orca_destroy(field->type, orca_field_of(field, value));
            break;
        case ORCA_SET:
        case ORCA_BAG:
            orca_set_destroy(type, value);
            break;
        case ORCA_GRAPH:
            orca_graph_destroy(type, value);
            __attribute__((fallthrough));
        case ORCA_RECORD:
            for (uint32_t i = 0; i < type->count; i++)
                orca_destroy(type->fields[i].type, orca_field_of(&type->fields[i], value));
            break;
        case ORCA_CUSTOM:
            type->custom->destroy(type, value);
            break;
        default:
            break;
        }
    memset(value, 0, type->size);
}

static double real_of(const struct orca_type *type, const void *value)
{
    double wide;
    float narrow;
    if (type->size == sizeof wide) {
        memcpy(&wide, value, sizeof wide);
        return wide;
    }
    memcpy(&narrow, value, sizeof narrow);
    return (double)narrow;
}

bool orca_equal(const struct orca_type *type, const void *left, const void *right)
{
    switch (type->kind) {
    case ORCA_REAL:
        return real_of(type, left) == real_of(type, right);
    case ORCA_ARRAY:
        return equal_arrays(type, left, right);
    case ORCA_UNION:
        return equal_unions(type, left, right);
    case ORCA_SET:
    case ORCA_BAG:
        return orca_set_equal(type, left, right);
    case ORCA_RECORD:
        for (uint32_t i = 0; i < type->count; i++)
            if (!orca_equal(type->fields[i].type, orca_field_of(&type->fields[i], left),
                            orca_field_of(&type->fields[i], right)))
                return false;
        return true;
    case ORCA_GRAPH:
    case ORCA_CUSTOM:
        return false; /* The language has no such relation. */
    default:
        return !memcmp(left, right, type->size);
    }
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const char *at = bytes;
    for (; n >= 8; at += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = mix(hash, word);
    }
    uint64_t rest = n;
    memcpy(&rest, at, n);
    return mix(hash, rest);
}

static uint64_t hash_array(const struct orca_type *type, const void *value)
{
    const struct orca_type *element = type->element;
    size_t size = orca_elements(type, value);
    if (!size)
        return 1;
    uint64_t hash = hash_bytes(2, orca_dimensions(value),
                               (size_t)type->dimensions * sizeof(struct orca_dimension));
    if (has_only_bytes(element))
        return hash_bytes(hash, orca_data(value), size * element->size);
    for (size_t i = 0; i < size; i++)
        hash = mix(hash, orca_hash(element, orca_data(value) + i * element->size));
    return hash;
}

uint64_t orca_hash(const struct orca_type *type, const void *value)
{
    const struct orca_field *field;
    uint64_t hash = 3;
    double real;
    switch (type->kind) {
    case ORCA_REAL:
        real = real_of(type, value) + 0.0; /* -0.0 is equal to 0.0 */
        return hash_bytes(4, &real, sizeof real);
    case ORCA_ARRAY:
        return hash_array(type, value);
    case ORCA_UNION:
        field = alternative_of(type, value);
        if (!field)
            return hash;
        return mix((uint64_t)field->tag, orca_hash(field->type, orca_field_of(field, value)));
    case ORCA_SET:
    case ORCA_BAG:
        return orca_set_hash(type, value);
    case ORCA_RECORD:
        for (uint32_t i = 0; i < type->count; i++)
            hash = mix(hash, orca_hash(type->fields[i].type,
                                       orca_field_of(&type->fields[i], value)));
        return hash;
    case ORCA_GRAPH:
    case ORCA_CUSTOM:
        return hash;
    default:
        return hash_bytes(5, value, type->size);
    }
}

/* ---- what holds what ---------------------------------------------------------------------- */

static bool is_within(const void *start, size_t bytes, const void *address)
{
    return (uintptr_t)address - (uintptr_t)start < bytes;
}

static bool array_holds(const struct orca_type *type, const void *value, const void *address)
{
    const struct orca_type *element = type->element;
    size_t size = orca_elements(type, value);
    if (is_within(orca_data(value), size * element->size, address))
        return true;
    if (element->is_plain)
        return false;
    for (size_t i = 0; i < size; i++)
        if (orca_holds(element, orca_data(value) + i * element->size, address))
            return true;
    return false;
}

bool orca_holds(const struct orca_type *type, const void *value, const void *address)
{
    if (is_within(value, type->size, address))
        return true;
    if (type->is_plain)
        return false;
    const struct orca_field *field;
    switch (type->kind) {
    case ORCA_ARRAY:
        return array_holds(type, value, address);
    case ORCA_UNION:
        field = alternative_of(type, value);
        return field && orca_holds(field->type, orca_field_of(field, value), address);
    case ORCA_GRAPH:
        if (orca_graph_holds(type, value, address))
            return true;
        __attribute__((fallthrough));
    case ORCA_RECORD:
        for (uint32_t i = 0; i < type->count; i++)
            if (orca_holds(type->fields[i].type, orca_field_of(&type->fields[i], value), address))
                return true;
        return false;
    default:
        return false; /* Members of sets are not variables. Objects are compared by their handles. */
    }
}

void orca_check_alias(orca_at at, const struct orca_type *one_type, const void *one,
                      const struct orca_type *other_type, const void *other)
{
    if (ORCA_UNLIKELY(orca_holds(one_type, one, other) || orca_holds(other_type, other, one)))
        orca_bad_alias(at);
}
