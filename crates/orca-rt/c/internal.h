/* Declarations that the files of this library share. */
#ifndef ANTIPHON_ORCA_INTERNAL_H
#define ANTIPHON_ORCA_INTERNAL_H

#include <stdio.h>

#include "orca_values.h"

#define ORCA_WEAK __attribute__((weak))

/* The dimensions of an array of any number of them. */
static inline struct orca_dimension *orca_dimensions(const void *array)
{
    return (struct orca_dimension *)((char *)array + offsetof(orca_array1, dimension));
}
/* The number of elements of an array. */
size_t orca_elements(const struct orca_type *, const void *array);
/* The memory of an array's elements. */
static inline char *orca_data(const void *array) { return ((const orca_array1 *)array)->data; }
static inline void *orca_field_of(const struct orca_field *field, const void *value)
{
    return (char *)value + field->offset;
}

/* Returns the alternative of a tag, or null. A union begins with its tag. */
const struct orca_field *orca_alternative(const struct orca_type *, long long tag);

/* Sets and bags. */
void orca_set_copy(const struct orca_type *, orca_set *to, const orca_set *from);
void orca_set_destroy(const struct orca_type *, orca_set *);
bool orca_set_equal(const struct orca_type *, const orca_set *, const orca_set *);
uint64_t orca_set_hash(const struct orca_type *, const orca_set *);
void orca_set_put(const struct orca_type *, const orca_set *, struct orca_writer *);
bool orca_set_get(const struct orca_type *, orca_set *, struct orca_reader *);

/* The nodes of graphs. */
void orca_graph_copy(const struct orca_type *, orca_graph *to, const orca_graph *from);
void orca_graph_destroy(const struct orca_type *, orca_graph *);
bool orca_graph_holds(const struct orca_type *, const orca_graph *, const void *address);
void orca_graph_put(const struct orca_type *, const orca_graph *, struct orca_writer *);
bool orca_graph_get(const struct orca_type *, orca_graph *, struct orca_reader *);

/* The dimensions of an array as bytes, and the number of elements: more than `most` are wrong. */
void orca_put_dimensions(const struct orca_type *, const void *array, struct orca_writer *);
bool orca_get_dimensions(const struct orca_type *, void *array, size_t most,
                         struct orca_reader *, size_t *size);

/* Numbers of fixed width in bytes. */
void orca_put_number(struct orca_writer *, uint64_t, size_t width);
bool orca_get_number(struct orca_reader *, uint64_t *, size_t width);
/* Records what is wrong with the bytes. Returns false. */
bool orca_wrong(struct orca_reader *, const char *);

/* The machine of the caller. */
int32_t orca_mycpu(void);
/* The targets of Read and Write. Input and output have a lock each. */
FILE *orca_input_begin(void);
void orca_input_end(void);
FILE *orca_output_begin(void);
void orca_output_end(void);
/* Redirect to a file, or back if it is null. Call them between begin and end. */
void orca_input_set(FILE *);
void orca_output_set(FILE *);
/* Read from a file. */
int64_t orca_scan_integer(orca_at, FILE *);
double orca_scan_real(orca_at, FILE *);
orca_byte orca_scan_char(orca_at, FILE *);
void orca_scan_string(orca_at, FILE *, orca_array1 *);

#endif
