/* Values as bytes: little endian, of the same widths on all machines, without addresses.
 *
 * Each value has at least one byte, so that no count in hostile bytes asks for more memory than a
 * multiple of their length. */
#include <stdlib.h>

#include "internal.h"

ORCA_WEAK const struct orca_routines orca_routines = {NULL, 0};

void orca_writer_grow(struct orca_writer *writer, size_t more)
{
    size_t needed;
    if (__builtin_add_overflow(writer->length, more, &needed) || needed > PTRDIFF_MAX / 2)
        orca_fail(NULL, ORCA_LIMIT, "out of memory", "a value has %zu bytes more", more);
    size_t capacity = writer->capacity ? writer->capacity : 64;
    while (capacity < needed)
        capacity *= 2;
    uint8_t *bytes = realloc(writer->bytes, capacity);
    if (!bytes)
        orca_fail(NULL, ORCA_LIMIT, "out of memory", "a value has %zu bytes", needed);
    writer->bytes = bytes;
    writer->capacity = capacity;
}

bool orca_wrong(struct orca_reader *reader, const char *what)
{
    reader->wrong = what;
    return false;
}

void orca_put_number(struct orca_writer *writer, uint64_t number, size_t width)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < width; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    orca_put_bytes(writer, bytes, width);
}

bool orca_get_number(struct orca_reader *reader, uint64_t *number, size_t width)
{
    uint8_t bytes[8];
    if (!orca_get_bytes(reader, bytes, width))
        return false;
    *number = 0;
    for (size_t i = 0; i < width; i++)
        *number |= (uint64_t)bytes[i] << 8 * i;
    return true;
}

/* Scalars that are sent as their bytes in C, except for byte order. */
static bool is_scalar(const struct orca_type *type)
{
    return type->kind == ORCA_INTEGER || type->kind == ORCA_REAL || type->kind == ORCA_CHOICE ||
           type->kind == ORCA_NODE;
}

/* Swaps the bytes of each scalar on big-endian machines. */
static void turn(void *scalars, size_t count, size_t size)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (uint8_t *at = scalars; count; count--, at += size)
        for (size_t i = 0; i < size / 2; i++) {
            uint8_t byte = at[i];
            at[i] = at[size - 1 - i];
            at[size - 1 - i] = byte;
        }
#else
    (void)scalars, (void)count, (void)size;
#endif
}

static void put_scalars(const struct orca_type *type, const void *scalars, size_t count,
                         struct orca_writer *writer)
{
    size_t bytes = count * type->size;
    orca_put_bytes(writer, scalars, bytes);
    if (bytes)
        turn(writer->bytes + writer->length - bytes, count, type->size);
}

static bool is_in_range(const struct orca_type *type, const void *scalars, size_t count)
{
    bool holds_all = type->size == 1 && type->count == 256;
    if (type->kind != ORCA_CHOICE || holds_all)
        return true;
    for (size_t i = 0; i < count; i++) {
        const char *at = (const char *)scalars + i * type->size;
        uint32_t value = 0;
        if (type->size == 1)
            value = *(const uint8_t *)at;
        else
            memcpy(&value, at, sizeof value);
        if (value >= type->count)
            return false;
    }
    return true;
}

static bool get_scalars(const struct orca_type *type, void *to, size_t count,
                        struct orca_reader *reader)
{
    if (!orca_get_bytes(reader, to, count * type->size))
        return false;
    turn(to, count, type->size);
    if (!is_in_range(type, to, count))
        return orca_wrong(reader, "a boolean or a value of an enumeration is out of range");
    return true;
}

/* ---- functions: their numbers in the table, from 1 ----------------------------------------- */

static void put_function(const void *value, struct orca_writer *writer)
{
    orca_function function;
    memcpy(&function, value, sizeof function);
    orca_put_number(writer, function ? function->number + 1u : 0, 4);
}

static bool get_function(void *to, struct orca_reader *reader)
{
    uint64_t number;
    if (!orca_get_number(reader, &number, 4))
        return false;
    if (number > orca_routines.count)
        return orca_wrong(reader, "there is no function of this number");
    orca_function function = number ? orca_routines.routines[number - 1] : NULL;
    memcpy(to, &function, sizeof function);
    return true;
}

/* ---- arrays ------------------------------------------------------------------------------- */

void orca_put_dimensions(const struct orca_type *type, const void *array,
                         struct orca_writer *writer)
{
    for (int32_t d = 0; d < type->dimensions; d++) {
        orca_put_number(writer, (uint64_t)orca_dimensions(array)[d].low, 8);
        orca_put_number(writer, orca_dimensions(array)[d].count, 8);
    }
}

static void put_array(const struct orca_type *type, const void *value, struct orca_writer *writer)
{
    const struct orca_type *element = type->element;
    size_t size = orca_elements(type, value);
    orca_put_dimensions(type, value, writer);
    if (is_scalar(element)) {
        put_scalars(element, orca_data(value), size, writer);
        return;
    }
    for (size_t i = 0; i < size; i++)
        orca_put(element, orca_data(value) + i * element->size, writer);
}

bool orca_get_dimensions(const struct orca_type *type, void *to, size_t most,
                         struct orca_reader *reader, size_t *size)
{
    static const long long FARTHEST = 1LL << 40;
    size_t product = 1;
    bool is_empty = false, is_too_large = false;
    for (int32_t d = 0; d < type->dimensions; d++) {
        uint64_t low, count;
        if (!orca_get_number(reader, &low, 8) || !orca_get_number(reader, &count, 8))
            return false;
        struct orca_dimension dimension = {(long long)low, count};
        if (dimension.low < -FARTHEST || dimension.low > FARTHEST || count > FARTHEST)
            return orca_wrong(reader, "the bounds of an array are out of range");
        orca_dimensions(to)[d] = dimension;
        is_empty |= count == 0;
        is_too_large |= __builtin_mul_overflow(product, (size_t)count, &product) || product > most;
    }
    if (is_too_large && !is_empty)
        return orca_wrong(reader, "an array has too many elements");
    *size = is_empty ? 0 : product;
    return true;
}

static bool get_elements(const struct orca_type *element, char *data, size_t size,
                            struct orca_reader *reader)
{
    if (is_scalar(element))
        return get_scalars(element, data, size, reader);
    for (size_t i = 0; i < size; i++)
        if (!orca_get(element, data + i * element->size, reader))
            return false;
    return true;
}

static bool get_array(const struct orca_type *type, void *to, struct orca_reader *reader)
{
    const struct orca_type *element = type->element;
    orca_array1 made = {0};
    size_t size = 0;
    /* Each element has at least one byte. */
    size_t left = (size_t)(reader->end - reader->next);
    if (!orca_get_dimensions(type, to, left, reader, &size)) {
        memset(to, 0, type->size);
        return false;
    }
    if (!size)
        return true;
    if (is_scalar(element) && size > (size_t)(reader->end - reader->next) / element->size) {
        memset(to, 0, type->size);
        return orca_wrong(reader, "they end too early");
    }
    made.data = orca_allocate(NULL, size, element->size);
    memcpy(to, &made.data, sizeof made.data);
    return get_elements(element, made.data, size, reader);
}

/* ---- all types ---------------------------------------------------------------------------- */

static void put_fields(const struct orca_type *type, const void *value, struct orca_writer *writer)
{
    if (!type->count)
        orca_put_number(writer, 0, 1);
    for (uint32_t i = 0; i < type->count; i++)
        orca_put(type->fields[i].type, orca_field_of(&type->fields[i], value), writer);
}

static bool get_fields(const struct orca_type *type, void *to, struct orca_reader *reader)
{
    uint64_t nothing;
    if (!type->count)
        return orca_get_number(reader, &nothing, 1);
    for (uint32_t i = 0; i < type->count; i++)
        if (!orca_get(type->fields[i].type, orca_field_of(&type->fields[i], to), reader))
            return false;
    return true;
}

static void put_union(const struct orca_type *type, const void *value, struct orca_writer *writer)
{
    const orca_tag *tag = value;
    orca_put_number(writer, tag->is_set, 1);
    if (!tag->is_set)
        return;
    const struct orca_field *field = orca_alternative(type, tag->value);
    orca_put_number(writer, (uint64_t)tag->value, 8);
    orca_put(field->type, orca_field_of(field, value), writer);
}

static bool get_union(const struct orca_type *type, void *to, struct orca_reader *reader)
{
    uint64_t is_set, tag;
    if (!orca_get_number(reader, &is_set, 1))
        return false;
    if (!is_set)
        return true;
    if (is_set != 1 || !orca_get_number(reader, &tag, 8))
        return is_set == 1 ? false : orca_wrong(reader, "a union has no such tag");
    const struct orca_field *field = orca_alternative(type, (long long)tag);
    if (!field)
        return orca_wrong(reader, "a union has no such tag");
    if (!orca_get(field->type, orca_field_of(field, to), reader))
        return false;
    *(orca_tag *)to = (orca_tag){field->tag, true};
    return true;
}

void orca_put(const struct orca_type *type, const void *value, struct orca_writer *writer)
{
    switch (type->kind) {
    case ORCA_FUNCTION:
        put_function(value, writer);
        return;
    case ORCA_ARRAY:
        put_array(type, value, writer);
        return;
    case ORCA_UNION:
        put_union(type, value, writer);
        return;
    case ORCA_SET:
    case ORCA_BAG:
        orca_set_put(type, value, writer);
        return;
    case ORCA_GRAPH:
        orca_graph_put(type, value, writer);
        __attribute__((fallthrough));
    case ORCA_RECORD:
        put_fields(type, value, writer);
        return;
    case ORCA_CUSTOM:
        type->custom->put(type, value, writer);
        return;
    default:
        put_scalars(type, value, 1, writer);
    }
}

static bool get_value(const struct orca_type *type, void *to, struct orca_reader *reader)
{
    switch (type->kind) {
    case ORCA_FUNCTION:
        return get_function(to, reader);
    case ORCA_ARRAY:
        return get_array(type, to, reader);
    case ORCA_UNION:
        return get_union(type, to, reader);
    case ORCA_SET:
    case ORCA_BAG:
        return orca_set_get(type, to, reader);
    case ORCA_GRAPH:
        return orca_graph_get(type, to, reader) && get_fields(type, to, reader);
    case ORCA_RECORD:
        return get_fields(type, to, reader);
    case ORCA_CUSTOM:
        return type->custom->get(type, to, reader);
    default:
        return get_scalars(type, to, 1, reader);
    }
}

bool orca_get(const struct orca_type *type, void *to, struct orca_reader *reader)
{
    /* Zeros are a value, so a partly read value can be destroyed. */
    memset(to, 0, type->size);
    if (get_value(type, to, reader))
        return true;
    orca_destroy(type, to);
    return false;
}
