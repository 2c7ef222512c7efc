/* What the original's C functions behind a specification include: its names of Orca's types. The
 * header of each such unit, `Unit.h`, includes this one. */
#ifndef ANTIPHON_ORCA_INTERFACE_H
#define ANTIPHON_ORCA_INTERFACE_H

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "orca_values.h"

typedef int32_t t_integer;
typedef int64_t t_longint;
typedef int16_t t_shortint;
typedef double t_real;
typedef double t_longreal;
typedef float t_shortreal;
typedef orca_byte t_char;
typedef orca_byte t_enum;
typedef orca_byte t_boolean;
typedef uint32_t t_longenum;

/* An array of one dimension, over the bytes of an orca_array1. The first element is
 * a_data[a_offset]. The lower bound must not be negative:
 *
 *     orca_array1   data       low                    count
 *     t_array       a_data     a_lwb      a_offset    a_nel, a_sz   0
 *     bytes         0          8          12          16            20
 */
typedef struct t_array {
    void *a_data;
    union {
        struct {
            int32_t a_lower_half;
            int32_t a_offset;
            int32_t a_sz;
        };
        struct {
            int32_t a_lwb;
            int32_t a_lwb_upper_half;
            int32_t a_nel;
            int32_t a_nel_upper_half;
        } a_dims[1];
    };
} t_array;
typedef t_array t_string;

_Static_assert(sizeof(t_array) == sizeof(orca_array1), "t_array is no orca_array1");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "t_array needs lower halves first");

#endif
