/* Values of Orca programs: what generated C and C functions behind a specification stand on.
 *
 * Types. Each Orca type has a C type and a descriptor, orca_type:
 *
 *     integer shortint longint   int32_t int16_t int64_t
 *     real shortreal             double float
 *     boolean char               orca_byte
 *     enumeration                orca_byte; uint32_t above 256 values
 *     array of n dimensions      orca_array1 .. orca_array8; string is orca_array1 of orca_byte
 *     set, bag                   orca_set
 *     record                     a struct of its fields
 *     union                      struct { orca_tag tag; union { .. } as; }
 *     graph                      struct { orca_graph graph; its own fields }; nodes are records
 *     name of a node, opaque     orca_node
 *     function                   orca_function
 *     object                     what the run-time makes of it: ORCA_CUSTOM
 *
 * Values. A value owns its memory; no two values share any. All bytes zero are a value of every
 * type, and the initial one unless its descriptor has `has_init`. A value is moved by copying its
 * bytes, if the old place is not used again.
 *
 * Compile with -fwrapv: integers wrap. ORCA_NO_CHECKS leaves checks of bounds and ranges out. */
#ifndef ANTIPHON_ORCA_VALUES_H
#define ANTIPHON_ORCA_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ORCA_LIKELY(x) __builtin_expect(!!(x), 1)
#define ORCA_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ORCA_NORETURN __attribute__((noreturn, cold))
#define ORCA_INLINE static inline __attribute__((always_inline, unused))

typedef unsigned char orca_byte;

/* A place in the source. Locations are static; null is an unknown place. */
struct orca_location {
    const char *file;
    int32_t line;
};
typedef const struct orca_location *orca_at;

/* The place of this thread's call of a C function behind a specification, which gets no place itself. */
extern _Thread_local orca_at orca_here;
#define ORCA_HERE(at) ((void)(orca_here = (at)))

/* ---- errors ------------------------------------------------------------------------------- */

/* How the original introduces a message: "Run-time error", "I/O error", "Limit exceeded",
 * "System error". */
enum orca_error_kind { ORCA_ERROR, ORCA_IO_ERROR, ORCA_LIMIT, ORCA_SYSTEM_ERROR };

/* Ends the program with the original's text, and the values in words or "".
 * The run-time defines it. The library's own, weak one prints both and aborts. */
ORCA_NORETURN void orca_runtime_error(orca_at, enum orca_error_kind, const char *text,
                                      const char *values);
/* The same with a format for the values. */
ORCA_NORETURN void orca_fail(orca_at, enum orca_error_kind, const char *text, const char *format,
                             ...) __attribute__((format(printf, 4, 5)));

ORCA_NORETURN void orca_bad_index(orca_at, long long index, long long low, long long high,
                                  int dimension); /* array bound error */
ORCA_NORETURN void orca_bad_node(orca_at, uint32_t index, uint32_t age); /* bad nodename */
ORCA_NORETURN void orca_bad_union(orca_at, long long tag, bool is_set, long long wanted);
ORCA_NORETURN void orca_bad_case(orca_at, long long value);
ORCA_NORETURN void orca_bad_alias(orca_at);
ORCA_NORETURN void orca_bad_assertion(orca_at);
ORCA_NORETURN void orca_no_return(orca_at, const char *routine, bool is_operation);
ORCA_NORETURN void orca_division_by_zero(orca_at, const char *dividend);
ORCA_NORETURN void orca_bad_modulo(orca_at, long long left, long long right);
ORCA_NORETURN void orca_bad_value(orca_at, const char *what, long long value, long long low,
                                  long long high); /* range error in CHR or VAL */
ORCA_NORETURN void orca_no_function(orca_at);
ORCA_NORETURN void orca_bad_cpu(orca_at, long long cpu, long long cpus);

/* ---- descriptors -------------------------------------------------------------------------- */

enum orca_kind {
    ORCA_INTEGER, /* size 2, 4 or 8 */
    ORCA_REAL,    /* size 4 or 8 */
    ORCA_CHOICE,  /* boolean, char, enumeration: 0 .. count-1; size 1 or 4 */
    ORCA_NODE,
    ORCA_FUNCTION,
    ORCA_ARRAY,
    ORCA_RECORD,
    ORCA_UNION,
    ORCA_SET,
    ORCA_BAG,
    ORCA_GRAPH,
    ORCA_CUSTOM
};

struct orca_type;
struct orca_writer;
struct orca_reader;

/* A field of a record or graph, or an alternative of a union. */
struct orca_field {
    const char *name;
    const struct orca_type *type;
    size_t offset;        /* in the struct */
    long long tag;        /* of an alternative */
    void (*init)(void *); /* if its initial value is not that of its type, as with bounds */
};

/* The functions of a type of objects. `to` of copy and `value` of init and get hold no values yet. */
struct orca_custom {
    void (*init)(const struct orca_type *, void *value);
    void (*copy)(const struct orca_type *, void *to, const void *from);
    void (*assign)(const struct orca_type *, void *to, const void *from);
    void (*destroy)(const struct orca_type *, void *value);
    void (*put)(const struct orca_type *, const void *value, struct orca_writer *);
    /* Returns false, and leaves nothing to destroy, if the bytes are wrong. */
    bool (*get)(const struct orca_type *, void *value, struct orca_reader *);
};

struct orca_type {
    const char *name;
    enum orca_kind kind;
    bool is_plain; /* copying its bytes copies it: no array, set, bag, graph, object in it */
    bool has_init; /* zeros are not its initial value: it or a part has `init`, or is an object */
    int32_t dimensions;               /* of an array */
    size_t size;                      /* bytes in C */
    uint32_t count;                   /* of fields, alternatives, values of a choice */
    const struct orca_type *element;  /* of an array, set, bag; the record of a graph's nodes */
    const struct orca_field *fields;  /* of a record or graph; alternatives of a union */
    void (*init)(void *);             /* makes the initial value, or null */
    const struct orca_custom *custom; /* of ORCA_CUSTOM */
    const void *data;                 /* for the hooks of ORCA_CUSTOM */
};

extern const struct orca_type orca_type_integer, orca_type_shortint, orca_type_longint;
extern const struct orca_type orca_type_real, orca_type_shortreal, orca_type_boolean;
extern const struct orca_type orca_type_char, orca_type_string, orca_type_node;
extern const struct orca_type orca_type_function;

/* Makes the initial value of a type in memory that holds none. */
void orca_init(const struct orca_type *, void *value);
/* Copies a value into memory that holds none. */
void orca_copy(const struct orca_type *, void *to, const void *from);
/* Copies a value into a variable. Both may be the same variable. */
void orca_assign(const struct orca_type *, void *to, const void *from);
/* Moves a value into a variable. `from` is then a value of zeros. */
void orca_move(const struct orca_type *, void *to, void *from);
/* Frees the memory of a value, and leaves zeros. */
void orca_destroy(const struct orca_type *, void *value);
/* The relation `=`. Arrays are equal if their bounds and elements are, or if both are empty. */
bool orca_equal(const struct orca_type *, const void *, const void *);
/* Returns a number that is the same for equal values. */
uint64_t orca_hash(const struct orca_type *, const void *value);

/* Returns memory of zeros. Too much is the error "out of memory". */
void *orca_allocate(orca_at, size_t count, size_t size);
void orca_free(void *);

/* ---- arrays ------------------------------------------------------------------------------- */

/* The types of these are those of no element, so that stores into elements do not make the
 * compiler read bounds again. */
struct orca_dimension {
    long long low;
    unsigned long long count;
};
#define ORCA_DEFINE_ARRAY(n)                                                                      \
    typedef struct orca_array##n {                                                                \
        void *data; /* row by row; null if it is empty */                                         \
        struct orca_dimension dimension[n];                                                       \
    } orca_array##n
ORCA_DEFINE_ARRAY(1);
ORCA_DEFINE_ARRAY(2);
ORCA_DEFINE_ARRAY(3);
ORCA_DEFINE_ARRAY(4);
ORCA_DEFINE_ARRAY(5);
ORCA_DEFINE_ARRAY(6);
ORCA_DEFINE_ARRAY(7);
ORCA_DEFINE_ARRAY(8);
#define ORCA_MOST_DIMENSIONS 8

/* Makes an array with initial elements in memory that holds no value. `bounds` are low and high
 * of each dimension. With more levels the elements are arrays with the bounds that follow. */
void orca_array_init(orca_at, const struct orca_type *, void *array, int levels,
                     const long long *bounds);

/* LB, UB of dimension d from 0, and SIZE. */
#define ORCA_LB(array, d) ((int32_t)(array)->dimension[d].low)
#define ORCA_UB(array, d)                                                                         \
    ((int32_t)((array)->dimension[d].low + (long long)(array)->dimension[d].count - 1))
int32_t orca_array_size(const struct orca_type *, const void *array);

/* The place of an index in a dimension. */
ORCA_INLINE unsigned long long orca_place(const struct orca_dimension *d, long long index,
                                          int number, orca_at at)
{
    unsigned long long place = (unsigned long long)index - (unsigned long long)d->low;
#ifndef ORCA_NO_CHECKS
    if (ORCA_UNLIKELY(place >= d->count))
        orca_bad_index(at, index, d->low, d->low + (long long)d->count - 1, number);
#else
    (void)number, (void)at;
#endif
    return place;
}
ORCA_INLINE unsigned long long orca_place1(const orca_array1 *a, long long i, orca_at at)
{
    return orca_place(&a->dimension[0], i, 1, at);
}
ORCA_INLINE unsigned long long orca_place2(const orca_array2 *a, long long i, long long j,
                                           orca_at at)
{
    unsigned long long row = orca_place(&a->dimension[0], i, 1, at);
    return row * a->dimension[1].count + orca_place(&a->dimension[1], j, 2, at);
}
ORCA_INLINE unsigned long long orca_place3(const orca_array3 *a, long long i, long long j,
                                           long long k, orca_at at)
{
    unsigned long long plane = orca_place(&a->dimension[0], i, 1, at);
    unsigned long long row = plane * a->dimension[1].count +
                             orca_place(&a->dimension[1], j, 2, at);
    return row * a->dimension[2].count + orca_place(&a->dimension[2], k, 3, at);
}
/* Of any number of dimensions. */
ORCA_INLINE unsigned long long orca_place_of(const struct orca_dimension *d, int dimensions,
                                             const long long *indices, orca_at at)
{
    unsigned long long place = 0;
    for (int i = 0; i < dimensions; i++)
        place = place * d[i].count + orca_place(&d[i], indices[i], i + 1, at);
    return place;
}
/* The element, a variable of the C type T. `array` is a pointer, and is evaluated twice: keep it
 * free of effects. ORCA_ATN(double, &a, 4, at, i, j, k, l) has four indices. */
#define ORCA_AT1(T, array, i, at) (((T *)(array)->data)[orca_place1(array, i, at)])
#define ORCA_AT2(T, array, i, j, at) (((T *)(array)->data)[orca_place2(array, i, j, at)])
#define ORCA_AT3(T, array, i, j, k, at) (((T *)(array)->data)[orca_place3(array, i, j, k, at)])
#define ORCA_ATN(T, array, n, at, ...)                                                            \
    (((T *)(array)->data)[orca_place_of((array)->dimension, n, (const long long[]){__VA_ARGS__},  \
                                        at)])

/* A row of an array of arrays: a copy of its bounds and of the pointer to its elements. A row that is
 * not there has no elements. */
#define ORCA_ROW(T, array, i)                                                                     \
    ({                                                                                            \
        const orca_array1 *const array_ = (array);                                                \
        const unsigned long long place_ =                                                         \
            (unsigned long long)(i) - (unsigned long long)array_->dimension[0].low;               \
        place_ < array_->dimension[0].count ? ((T *)array_->data)[place_] : (T){0};               \
    })
/* Whether all indices between two are right, and are 32-bit numbers. */
#define ORCA_IS_INDEX(array, i)                                                                   \
    ((long long)(int32_t)(i) == (i) &&                                                            \
     (unsigned long long)(i) - (unsigned long long)(array)->dimension[0].low <                    \
         (array)->dimension[0].count)
#define ORCA_WITHIN(array, from, to) (ORCA_IS_INDEX(array, from) && ORCA_IS_INDEX(array, to))
/* An element of an array or a row, which is checked unless its index is known to be right. If it is
 * wrong, `before` checks the indices of the row. */
#ifdef ORCA_NO_CHECKS
#define ORCA_AT_IF(T, array, i, at, is_right, before) ORCA_AT1(T, array, i, at)
#else
#define ORCA_AT_IF(T, array, i, at, is_right, before)                                             \
    (*({                                                                                          \
        const long long index_ = (i);                                                             \
        const unsigned long long place_ =                                                         \
            (unsigned long long)index_ - (unsigned long long)(array)->dimension[0].low;           \
        if (ORCA_UNLIKELY(!(is_right)) && ORCA_UNLIKELY(place_ >= (array)->dimension[0].count)) { \
            (void)(before);                                                                       \
            orca_place1(array, index_, at);                                                       \
        }                                                                                         \
        &((T *)(array)->data)[place_];                                                            \
    }))
#endif

/* A string constant as a value that is only read: never assign to it or destroy it.
 * `static const orca_array1 name = ORCA_TEXT("..");` */
#define ORCA_TEXT(literal) {(void *)(literal), {{1, sizeof(literal) - 1}}}

/* For C functions: sets a string variable, with bounds 1..length. */
void orca_string_set(orca_array1 *string, const char *bytes, size_t length);
/* Returns a copy that ends in a zero. Give it to orca_free. */
char *orca_string_to_c(const orca_array1 *string);
/* Ends a call of a function in C whose result has the type of an IN array. The original passes the
 * target of `s := f(s)` for both. So the function may narrow the array and leave its result alone:
 * then the result is the narrowed part. */
void orca_end_narrowing(const struct orca_type *, orca_array1 *result, const orca_array1 *before,
                        const orca_array1 *after);

/* ---- unions ------------------------------------------------------------------------------- */

typedef struct orca_tag {
    long long value;
    bool is_set;
} orca_tag;

/* Checks that an alternative may be used: `orca_select(at, &u.tag, 3), u.as.name`. */
ORCA_INLINE void orca_select(orca_at at, const orca_tag *tag, long long wanted)
{
#ifndef ORCA_NO_CHECKS
    if (ORCA_UNLIKELY(!tag->is_set || tag->value != wanted))
        orca_bad_union(at, tag->value, tag->is_set, wanted);
#else
    (void)at, (void)tag, (void)wanted;
#endif
}
/* Makes a union with a tag, and its alternative's initial value, in memory that holds no value:
 * `u: T(3)`. */
void orca_union_init(orca_at, const struct orca_type *, void *value, long long tag);

/* ---- sets and bags ------------------------------------------------------------------------ */

/* Members are kept in the order in which they came; a member that is there keeps its place. */
typedef struct orca_set {
    struct orca_set_body *body;
} orca_set;

/* The type is that of the set or bag. */
void orca_set_insert(orca_at, const struct orca_type *, orca_set *, const void *member);
/* Removes one of it. Nothing happens if it is not there. */
void orca_set_delete(const struct orca_type *, orca_set *, const void *member);
bool orca_set_has(const struct orca_type *, const orca_set *, const void *member);
/* Returns the number of members; those of a bag by their counts. */
int32_t orca_set_size(const orca_set *);
/* Moves the first member into memory that holds no value. None is an error. */
void orca_set_from(orca_at, const struct orca_type *, orca_set *, void *member);
/* Operators `+ - * /` into memory that holds no value. Both may be the same set. */
void orca_set_combine(orca_at, const struct orca_type *, char operator, orca_set *result,
                      const orca_set *, const orca_set *);

/* Returns the next member, or null:
 *     struct orca_cursor c = {0}; const void *m;
 *     while ((m = orca_set_next(type, &s, &c))) ..
 * A bag's member comes as often as it is in it. The set must not change meanwhile: FOR goes over
 * a copy. */
struct orca_cursor {
    uint64_t entry, times;
};
const void *orca_set_next(const struct orca_type *, const orca_set *, struct orca_cursor *);

/* ---- graphs ------------------------------------------------------------------------------- */

/* The name of a node. NIL is {0, 0}. The name of a deleted node is never that of another one, and
 * names are valid in copies of the graph. */
typedef struct orca_node {
    uint32_t index; /* from 1 */
    uint32_t age;
} orca_node;
#define ORCA_NIL ((orca_node){0, 0})
#define ORCA_SAME_NODE(a, b) ((a).index == (b).index && (a).age == (b).age)

struct orca_slot {
    void *node; /* null if there is none */
    uint32_t age;
    uint32_t next; /* the next free slot, or 0 */
};
struct orca_graph_body {
    struct orca_slot *slots; /* that of index 1 first */
    uint32_t count, capacity, free, live;
};
/* The first member of each graph's struct. */
typedef struct orca_graph {
    struct orca_graph_body *body;
} orca_graph;

/* ADDNODE and DELETENODE. A node stays at its address until it is deleted. */
orca_node orca_graph_add(orca_at, const struct orca_type *, orca_graph *);
void orca_graph_delete(orca_at, const struct orca_type *, orca_graph *, orca_node);
/* Returns the record of a node. It checks the name even if ORCA_NO_CHECKS is defined. */
ORCA_INLINE void *orca_graph_node(orca_at at, const orca_graph *graph, orca_node name)
{
    const struct orca_graph_body *body = graph->body;
    if (ORCA_LIKELY(body && name.index - 1 < body->count)) {
        const struct orca_slot *slot = &body->slots[name.index - 1];
        if (ORCA_LIKELY(slot->age == name.age && slot->node))
            return slot->node;
    }
    orca_bad_node(at, name.index, name.age);
}

/* ---- function values ---------------------------------------------------------------------- */

/* Generated code has one of them for each function that is used as a value, and the table of
 * them, the same in all processes of a run. */
struct orca_routine {
    const char *name;
    void (*code)(void);
    uint32_t number; /* its place in the table */
};
typedef const struct orca_routine *orca_function; /* null: no function */
struct orca_routines {
    const struct orca_routine *const *routines;
    uint32_t count;
};
/* The library's own, weak table is empty. */
extern const struct orca_routines orca_routines;

/* `((int32_t (*)(int32_t))orca_code(at, f))(1)` */
ORCA_INLINE void (*orca_code(orca_at at, orca_function function))(void)
{
    if (ORCA_UNLIKELY(!function))
        orca_no_function(at);
    return function->code;
}

/* ---- bytes -------------------------------------------------------------------------------- */

/* Initially zeros. Free the bytes by orca_free. */
struct orca_writer {
    uint8_t *bytes;
    size_t length, capacity;
};
void orca_writer_grow(struct orca_writer *, size_t more);
ORCA_INLINE void orca_put_bytes(struct orca_writer *writer, const void *bytes, size_t length)
{
    if (ORCA_UNLIKELY(length > writer->capacity - writer->length))
        orca_writer_grow(writer, length);
    if (length)
        memcpy(writer->bytes + writer->length, bytes, length);
    writer->length += length;
}
/* Writes a value: little endian, without addresses. */
void orca_put(const struct orca_type *, const void *value, struct orca_writer *);

struct orca_reader {
    const uint8_t *next, *end;
    const char *wrong; /* the fault of the bytes, or null */
};
ORCA_INLINE bool orca_get_bytes(struct orca_reader *reader, void *bytes, size_t length)
{
    if (ORCA_UNLIKELY(length > (size_t)(reader->end - reader->next))) {
        reader->wrong = "they end too early";
        return false;
    }
    if (length)
        memcpy(bytes, reader->next, length);
    reader->next += length;
    return true;
}
/* Reads a value into memory that holds none. Returns false, and leaves zeros, if the bytes are
 * not those of one. Any bytes may be given. */
bool orca_get(const struct orca_type *, void *value, struct orca_reader *);

/* ---- parameters that may be the same variable ---------------------------------------------- */

/* Returns whether an address is in a value or in memory that it owns. */
bool orca_holds(const struct orca_type *, const void *value, const void *address);
/* Raises "illegal alias" if the variables have a part in common. */
void orca_check_alias(orca_at, const struct orca_type *, const void *, const struct orca_type *,
                      const void *);

/* ---- arithmetic --------------------------------------------------------------------------- */

#define ORCA_DEFINE_ARITHMETIC(bits)                                                              \
    ORCA_INLINE int##bits##_t orca_div##bits(orca_at at, int##bits##_t a, int##bits##_t b)        \
    {                                                                                             \
        if (ORCA_UNLIKELY(b == 0))                                                                \
            orca_division_by_zero(at, "an integer");                                              \
        return b == -1 ? (int##bits##_t)(0 - (uint##bits##_t)a) : (int##bits##_t)(a / b);         \
    }                                                                                             \
    ORCA_INLINE int##bits##_t orca_mod##bits(orca_at at, int##bits##_t a, int##bits##_t b)        \
    {                                                                                             \
        if (ORCA_UNLIKELY(b <= 0))                                                                \
            orca_bad_modulo(at, a, b);                                                            \
        return (int##bits##_t)(a % b);                                                            \
    }                                                                                             \
    /* A shift uses the low bits of its count, as processors do. */                           \
    ORCA_INLINE int##bits##_t orca_shl##bits(int##bits##_t a, int64_t count)                      \
    {                                                                                             \
        return (int##bits##_t)((uint##bits##_t)a << (count & (bits - 1)));                        \
    }                                                                                             \
    ORCA_INLINE int##bits##_t orca_shr##bits(int##bits##_t a, int64_t count)                      \
    {                                                                                             \
        return (int##bits##_t)(a >> (count & (bits - 1)));                                        \
    }
ORCA_DEFINE_ARITHMETIC(32)
ORCA_DEFINE_ARITHMETIC(64)

ORCA_INLINE double orca_divide(orca_at at, double a, double b)
{
    if (ORCA_UNLIKELY(b == 0.0))
        orca_division_by_zero(at, "a real");
    return a / b;
}
/* TRUNC. The least integer if the result does not fit, as on processors. */
ORCA_INLINE int32_t orca_trunc(double x)
{
    return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN;
}
/* CHR, VAL: a value of a choice with `count` values. */
ORCA_INLINE uint32_t orca_value(orca_at at, const char *what, int64_t value, uint32_t count)
{
#ifndef ORCA_NO_CHECKS
    if (ORCA_UNLIKELY((uint64_t)value >= count))
        orca_bad_value(at, what, value, 0, (long long)count - 1);
#else
    (void)at, (void)what, (void)count;
#endif
    return (uint32_t)value;
}
ORCA_INLINE orca_byte orca_cap(orca_byte c)
{
    return c >= 'a' && c <= 'z' ? (orca_byte)(c - 'a' + 'A') : c;
}

/* ---- input and output ---------------------------------------------------------------------- */

/* The parts of one Write stand together: begin, the parts, end. Nothing may switch between. */
void orca_write_begin(void);
void orca_write_end(void);
void orca_write_integer(int64_t);
void orca_write_real(double);
void orca_write_char(orca_byte);
void orca_write_string(const orca_array1 *);

/* Read. It is an error if the input has no such value. */
int64_t orca_read_integer(orca_at);
double orca_read_real(orca_at);
orca_byte orca_read_char(orca_at);
void orca_read_string(orca_at, orca_array1 *);

/* Flushes output. Call it before the program ends in any way. Returns why output is lost, or null.
 * Output that is lost earlier is a run-time error. */
const char *orca_flush(void);

/* ---- what the run-time may define; the library's own are weak ------------------------------- */

/* Ends the program, blocked processes included. The library's own one calls exit. */
ORCA_NORETURN void orca_finish(void);
void orca_sleep(int64_t seconds, int64_t nanoseconds);
void orca_reset_statistics(void);
void orca_print_statistics(void);
int32_t orca_trace_level(int32_t level); /* returns the one before */
void orca_trace_event(int32_t level, const char *name, size_t length);
void orca_trace_flush(void);
/* The arguments behind the run-time's own; the first is the program's name. */
extern int orca_argc;
extern char **orca_argv;

#endif
