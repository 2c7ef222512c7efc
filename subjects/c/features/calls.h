/* What is called: for each type, mode and count or size a subprogram of the same shape, defined once here and compiled in
 * three ways: in a unit of its own (inter), in the caller's unit but not inlined (intra), inlined (inline).
 *
 * A body does as little as the mode allows. `in` reads the first parameter. `out` sets each scalar and `in_out` changes
 * each, as a body must; of an array or record they change the first component only, so that the cost grows with the size
 * if and only if the object is copied. Each body also leaves a value behind, as the control loop does: a store,
 * since a sum in memory would keep a processor waiting for longer than a call takes. */
#ifndef CALLS_H
#define CALLS_H

#include "kit.h"
#include "lists.h"

#include <stddef.h>

enum colour { RED, GREEN };

extern uint64_t call_value; /* what bodies leave behind; loops add it up */

/* Scalars: FORMAL, ACTUAL, USE and LEAVES of each type and mode --------------------------------------------------------- */

extern int call_integers[100];
extern enum colour call_enumerations[100];

#define FORMAL_integer_in(k) int p##k
#define FORMAL_integer_out(k) int *p##k
#define FORMAL_integer_in_out(k) int *p##k
#define FORMAL_enumeration_in(k) enum colour p##k
#define FORMAL_enumeration_out(k) enum colour *p##k
#define FORMAL_enumeration_in_out(k) enum colour *p##k

#define ACTUAL_integer_in(k) call_integers[INDEX_OF(k)]
#define ACTUAL_integer_out(k) &call_integers[INDEX_OF(k)]
#define ACTUAL_integer_in_out(k) &call_integers[INDEX_OF(k)]
#define ACTUAL_enumeration_in(k) call_enumerations[INDEX_OF(k)]
#define ACTUAL_enumeration_out(k) &call_enumerations[INDEX_OF(k)]
#define ACTUAL_enumeration_in_out(k) &call_enumerations[INDEX_OF(k)]

#define USE_integer_in(k) (void)p##k
#define USE_integer_out(k) *p##k = k
#define USE_integer_in_out(k) *p##k ^= 1
#define USE_enumeration_in(k) (void)p##k
#define USE_enumeration_out(k) *p##k = GREEN
#define USE_enumeration_in_out(k) *p##k = *p##k == RED ? GREEN : RED

#define LEAVES_in (uint64_t)p100
#define LEAVES_out 1
#define LEAVES_in_out 1

#define SCALAR_CALLS(X, form)                                                                                          \
    SCALAR_MODES(X, form, integer, 1) SCALAR_MODES(X, form, integer, 10) SCALAR_MODES(X, form, integer, 100)           \
    SCALAR_MODES(X, form, enumeration, 1) SCALAR_MODES(X, form, enumeration, 10) SCALAR_MODES(X, form, enumeration, 100)

#define SCALAR_MODES(X, form, type, count) X(form, type, in, count) X(form, type, out, count) X(form, type, in_out, count)

#define SCALAR_NAME(form, type, mode, count) call_##form##_##type##_##mode##_##count
#define SCALAR_HEAD(form, type, mode, count)                                                                           \
    void SCALAR_NAME(form, type, mode, count)(EACH_##count(FORMAL_##type##_##mode, COMMA))
#define SCALAR_BODY(form, type, mode, count)                                                                           \
    {                                                                                                                  \
        call_value = LEAVES_##mode;                                                                                    \
        EACH_##count(USE_##type##_##mode, SEMICOLON);                                                                  \
    }

/* Arrays and records by size; unconstrained arrays are a pointer and a length, whatever the size ------------------------ */

#define SIZES(X) X(8) X(64) X(512) X(4096)

struct part {
    int number;
    enum colour kind;
};

#define COMPOSITE_TYPES(bytes)                                                                                         \
    struct array_##bytes {                                                                                             \
        int parts[(bytes) / sizeof(int)];                                                                              \
    };                                                                                                                 \
    struct record_##bytes {                                                                                            \
        struct part parts[(bytes) / sizeof(struct part)];                                                              \
    };                                                                                                                 \
    extern struct array_##bytes call_array_##bytes;                                                                    \
    extern struct record_##bytes call_record_##bytes;
SIZES(COMPOSITE_TYPES)

#define COMPOSITE_CALLS(X, form)                                                                                       \
    COMPOSITE_MODES(X, form, 8) COMPOSITE_MODES(X, form, 64) COMPOSITE_MODES(X, form, 512) COMPOSITE_MODES(X, form, 4096)
#define COMPOSITE_MODES(X, form, bytes)                                                                                \
    X(form, array, in, bytes) X(form, array, out, bytes) X(form, array, in_out, bytes)                                 \
    X(form, record, in, bytes) X(form, record, out, bytes) X(form, record, in_out, bytes)

#define PASSED_in(object) object
#define PASSED_out(object) *object
#define PASSED_in_out(object) *object

#define FIRST_array(object) (object).parts[0]
#define FIRST_record(object) (object).parts[0].number

#define BODY_in(first) call_value = (uint64_t)(first)
#define BODY_out(first) call_value = 1; (first) = 1
#define BODY_in_out(first) call_value = 1; (first) ^= 1

#define COMPOSITE_NAME(form, type, mode, bytes) call_##form##_##type##_##mode##_##bytes
#define COMPOSITE_HEAD(form, type, mode, bytes)                                                                        \
    void COMPOSITE_NAME(form, type, mode, bytes)(struct type##_##bytes PASSED_##mode(object))
#define COMPOSITE_BODY(form, type, mode, bytes)                                                                        \
    {                                                                                                                  \
        BODY_##mode(FIRST_##type(PASSED_##mode(object)));                                                              \
    }

#define UNCONSTRAINED_CALLS(X, form) X(form, in) X(form, out) X(form, in_out)
#define UNCONSTRAINED_HEAD(form, mode) void call_##form##_unconstrained_##mode(POINTED_##mode int *elements, size_t length)
#define POINTED_in const
#define POINTED_out
#define POINTED_in_out
#define UNCONSTRAINED_BODY(form, mode)                                                                                 \
    {                                                                                                                  \
        BODY_##mode(elements[0]);                                                                                      \
        (void)length;                                                                                                  \
    }

/* The subprograms of calls_inter.c --------------------------------------------------------------------------------------- */

#define DECLARE_SCALAR(form, type, mode, count) SCALAR_HEAD(form, type, mode, count);
#define DECLARE_COMPOSITE(form, type, mode, bytes) COMPOSITE_HEAD(form, type, mode, bytes);
#define DECLARE_UNCONSTRAINED(form, mode) UNCONSTRAINED_HEAD(form, mode);

void call_inter_none(void);
SCALAR_CALLS(DECLARE_SCALAR, inter)
COMPOSITE_CALLS(DECLARE_COMPOSITE, inter)
UNCONSTRAINED_CALLS(DECLARE_UNCONSTRAINED, inter)

kit_frame call_control; /* does what a body does, and calls none */

#endif
