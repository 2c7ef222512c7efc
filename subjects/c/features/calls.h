/* Subprogram calls: what a call costs over the same statements written in its place.
 *
 * For each type, mode and count or size there is a subprogram of one shape, defined here once and used in four ways: its
 * statements in line (the control frame), called in another unit (inter), called in the caller's unit but not inlined
 * (intra), and declared `inline`, which leaves it to the compiler (inline). Test and control differ by the call alone:
 * passing, jump, return.
 *
 * The subprograms are those of the Ada subject, so that the figures may be read beside each other. A subprogram keeps
 * every `in` parameter, gives every `out` parameter the value that was kept, and exchanges the two for `in_out`. Of an
 * array or record it touches the first component alone, so that the cost grows with the size if and only if the object
 * is copied. */
#ifndef CALLS_H
#define CALLS_H

#include "kit.h"
#include "lists.h"

#include <stddef.h>

/* Data (calls_data.c): variables of another unit, which the hidden increment might change, so that each iteration must
 * load and store them ---------------------------------------------------------------------------------------------- */

enum colour { RED, GREEN, BLUE };

extern int call_integers[100], kept_integers[100];
extern enum colour call_enumerations[100], kept_enumerations[100];

#define SIZES(X) X(8) X(64) X(512) X(4096)
#define INTEGERS(bytes) ((bytes) / sizeof(int))

#define COMPOSITE_TYPES(bytes)                                                                                         \
    struct array_##bytes {                                                                                             \
        int parts[INTEGERS(bytes)];                                                                                    \
    };                                                                                                                 \
    struct record_##bytes {                                                                                            \
        int first;                                                                                                     \
        int rest[INTEGERS(bytes) - 1];                                                                                 \
    };                                                                                                                 \
    extern struct array_##bytes call_array_##bytes;                                                                    \
    extern struct record_##bytes call_record_##bytes;                                                                  \
    extern int call_unconstrained_##bytes[INTEGERS(bytes)];
SIZES(COMPOSITE_TYPES)

void call_restore(void); /* the values that every slice starts from */
void call_prepare(uint64_t argument);

/* What a frame returns: depends on the iterations done and on what the subprograms left. */
uint64_t call_digest(uint64_t iterations);

#define CALL_FRAME(name, statement)                                                                                    \
    uint64_t name(uint64_t iterations)                                                                                 \
    {                                                                                                                  \
        uint64_t i = 0;                                                                                                \
        while (i < iterations) {                                                                                       \
            statement;                                                                                                 \
            i = kit_increment(i);                                                                                      \
        }                                                                                                              \
        return call_digest(i);                                                                                         \
    }

#define CALL_ROW(row, control_, test_)                                                                                 \
    {.name = "call." row, .control = control_, .test = test_, .prepare = call_prepare, .reset = call_restore},

/* What is done with a parameter of each mode -------------------------------------------------------------------------- */

#define PASS_in(type, object, kept) (kept) = (object)
#define PASS_out(type, object, kept) (object) = (kept)
#define PASS_in_out(type, object, kept)                                                                                \
    do {                                                                                                               \
        type was = (object);                                                                                           \
        (object) = (kept);                                                                                             \
        (kept) = was;                                                                                                  \
    } while (0)

/* Scalars: `out` and `in_out` are pointers ---------------------------------------------------------------------------- */

#define SCALAR_CALLS(X, form)                                                                                          \
    SCALAR_MODES(X, form, integer, 1) SCALAR_MODES(X, form, integer, 10) SCALAR_MODES(X, form, integer, 100)           \
    SCALAR_MODES(X, form, enumeration, 1) SCALAR_MODES(X, form, enumeration, 10) SCALAR_MODES(X, form, enumeration, 100)

#define SCALAR_MODES(X, form, type, count) X(form, type, in, count) X(form, type, out, count) X(form, type, in_out, count)

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

#define BODY_integer_in(k) PASS_in(int, p##k, kept_integers[INDEX_OF(k)])
#define BODY_integer_out(k) PASS_out(int, *p##k, kept_integers[INDEX_OF(k)])
#define BODY_integer_in_out(k) PASS_in_out(int, *p##k, kept_integers[INDEX_OF(k)])
#define BODY_enumeration_in(k) PASS_in(enum colour, p##k, kept_enumerations[INDEX_OF(k)])
#define BODY_enumeration_out(k) PASS_out(enum colour, *p##k, kept_enumerations[INDEX_OF(k)])
#define BODY_enumeration_in_out(k) PASS_in_out(enum colour, *p##k, kept_enumerations[INDEX_OF(k)])

#define IN_LINE_integer_in(k) PASS_in(int, call_integers[INDEX_OF(k)], kept_integers[INDEX_OF(k)])
#define IN_LINE_integer_out(k) PASS_out(int, call_integers[INDEX_OF(k)], kept_integers[INDEX_OF(k)])
#define IN_LINE_integer_in_out(k) PASS_in_out(int, call_integers[INDEX_OF(k)], kept_integers[INDEX_OF(k)])
#define IN_LINE_enumeration_in(k) PASS_in(enum colour, call_enumerations[INDEX_OF(k)], kept_enumerations[INDEX_OF(k)])
#define IN_LINE_enumeration_out(k) PASS_out(enum colour, call_enumerations[INDEX_OF(k)], kept_enumerations[INDEX_OF(k)])
#define IN_LINE_enumeration_in_out(k)                                                                                  \
    PASS_in_out(enum colour, call_enumerations[INDEX_OF(k)], kept_enumerations[INDEX_OF(k)])

#define SCALAR_NAME(form, type, mode, count) call_##form##_##type##_##mode##_##count
#define SCALAR_HEAD(form, type, mode, count)                                                                           \
    void SCALAR_NAME(form, type, mode, count)(EACH_##count(FORMAL_##type##_##mode, COMMA))
#define SCALAR_BODY(form, type, mode, count)                                                                           \
    {                                                                                                                  \
        EACH_##count(BODY_##type##_##mode, SEMICOLON);                                                                 \
    }
#define SCALAR_IN_LINE(form, type, mode, count) EACH_##count(IN_LINE_##type##_##mode, SEMICOLON)
#define SCALAR_CALL(form, type, mode, count)                                                                           \
    SCALAR_NAME(form, type, mode, count)(EACH_##count(ACTUAL_##type##_##mode, COMMA))

/* Arrays, records, and arrays of any length by size: `in` by value, `out` and `in_out` by pointer; an array of any length
 * is a pointer and a length in all modes ------------------------------------------------------------------------------ */

#define COMPOSITE_CALLS(X, form)                                                                                       \
    COMPOSITE_MODES(X, form, 8) COMPOSITE_MODES(X, form, 64) COMPOSITE_MODES(X, form, 512) COMPOSITE_MODES(X, form, 4096)
#define COMPOSITE_MODES(X, form, bytes)                                                                                \
    X(form, array, in, bytes) X(form, array, out, bytes) X(form, array, in_out, bytes)                                 \
    X(form, record, in, bytes) X(form, record, out, bytes) X(form, record, in_out, bytes)                              \
    X(form, unconstrained, in, bytes) X(form, unconstrained, out, bytes) X(form, unconstrained, in_out, bytes)

#define FORMALS_array_in(bytes) struct array_##bytes p
#define FORMALS_array_out(bytes) struct array_##bytes *p
#define FORMALS_array_in_out(bytes) struct array_##bytes *p
#define FORMALS_record_in(bytes) struct record_##bytes p
#define FORMALS_record_out(bytes) struct record_##bytes *p
#define FORMALS_record_in_out(bytes) struct record_##bytes *p
#define FORMALS_unconstrained_in(bytes) const int *p, size_t length
#define FORMALS_unconstrained_out(bytes) int *p, size_t length
#define FORMALS_unconstrained_in_out(bytes) int *p, size_t length

#define ACTUALS_array_in(bytes) call_array_##bytes
#define ACTUALS_array_out(bytes) &call_array_##bytes
#define ACTUALS_array_in_out(bytes) &call_array_##bytes
#define ACTUALS_record_in(bytes) call_record_##bytes
#define ACTUALS_record_out(bytes) &call_record_##bytes
#define ACTUALS_record_in_out(bytes) &call_record_##bytes
#define ACTUALS_unconstrained_in(bytes) call_unconstrained_##bytes, INTEGERS(bytes)
#define ACTUALS_unconstrained_out(bytes) call_unconstrained_##bytes, INTEGERS(bytes)
#define ACTUALS_unconstrained_in_out(bytes) call_unconstrained_##bytes, INTEGERS(bytes)

#define FIRST_OF_array_in p.parts[0]
#define FIRST_OF_array_out p->parts[0]
#define FIRST_OF_array_in_out p->parts[0]
#define FIRST_OF_record_in p.first
#define FIRST_OF_record_out p->first
#define FIRST_OF_record_in_out p->first
#define FIRST_OF_unconstrained_in p[0]
#define FIRST_OF_unconstrained_out p[0]
#define FIRST_OF_unconstrained_in_out p[0]

#define FIRST_IN_LINE_array(bytes) call_array_##bytes.parts[0]
#define FIRST_IN_LINE_record(bytes) call_record_##bytes.first
#define FIRST_IN_LINE_unconstrained(bytes) call_unconstrained_##bytes[0]

#define IGNORE_array
#define IGNORE_record
#define IGNORE_unconstrained (void)length;

#define COMPOSITE_NAME(form, type, mode, bytes) call_##form##_##type##_##mode##_##bytes
#define COMPOSITE_HEAD(form, type, mode, bytes)                                                                        \
    void COMPOSITE_NAME(form, type, mode, bytes)(FORMALS_##type##_##mode(bytes))
#define COMPOSITE_BODY(form, type, mode, bytes)                                                                        \
    {                                                                                                                  \
        IGNORE_##type PASS_##mode(int, FIRST_OF_##type##_##mode, kept_integers[0]);                                    \
    }
#define COMPOSITE_IN_LINE(form, type, mode, bytes) PASS_##mode(int, FIRST_IN_LINE_##type(bytes), kept_integers[0])
#define COMPOSITE_CALL(form, type, mode, bytes)                                                                        \
    COMPOSITE_NAME(form, type, mode, bytes)(ACTUALS_##type##_##mode(bytes))

/* What other units define ----------------------------------------------------------------------------------------------- */

#define DECLARE_SCALAR(form, type, mode, count) SCALAR_HEAD(form, type, mode, count);
#define DECLARE_COMPOSITE(form, type, mode, bytes) COMPOSITE_HEAD(form, type, mode, bytes);

void call_inter_none(void); /* calls_inter.c */
SCALAR_CALLS(DECLARE_SCALAR, inter)
COMPOSITE_CALLS(DECLARE_COMPOSITE, inter)

#define CONTROL_NAME(form, type, mode, size) control_##type##_##mode##_##size
#define DECLARE_CONTROL(form, type, mode, size) kit_frame CONTROL_NAME(form, type, mode, size);

kit_frame control_none; /* calls_control.c: the subprograms' statements in line */
SCALAR_CALLS(DECLARE_CONTROL, control)
COMPOSITE_CALLS(DECLARE_CONTROL, control)

#endif
