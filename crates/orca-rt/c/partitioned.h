/* Partitioned objects: what Rust and processes call. */
#ifndef ANTIPHON_ORCA_PARTITIONED_H
#define ANTIPHON_ORCA_PARTITIONED_H

#include "orca.h"

/* The elements of a part: with their initial values; as a copy. */
char *orca_elements_new(const struct orca_type *, size_t count);
char *orca_elements_copy(const struct orca_type *, const char *from, size_t count);
void orca_elements_free(const struct orca_type *, char *elements, size_t count);
void orca_elements_put(const struct orca_type *, const char *elements, size_t count,
                       struct orca_writer *);
/* Reads elements into memory of zeros. */
bool orca_elements_get(const struct orca_type *, char *elements, size_t count,
                       struct orca_reader *);

/* Run an operation, and the initial code. They return false if they miss elements. */
bool orca_view_execute(struct orca_view *, const struct orca_array_operation *, void *arguments,
                       struct orca_writer *result);
bool orca_view_init(struct orca_view *);
/* All elements of an object, the last dimension first. */
bool orca_view_put(struct orca_view *, struct orca_writer *);
bool orca_view_get(struct orca_view *, struct orca_reader *);

/* Returns the handle of a variable, which is shared from now on. */
void *orca_partitioned_share(void *value);
/* Makes a variable of a handle, in memory that holds no value. */
void orca_partitioned_receive(const struct orca_type *, void *value, void *handle);

#endif
