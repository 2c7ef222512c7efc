/* Calls of functions in C behind a specification. */
#include <string.h>

#include "interface.h"
#include "internal.h"

void orca_end_narrowing(const struct orca_type *type, orca_array1 *result,
                        const orca_array1 *before, const orca_array1 *after)
{
    t_array part;
    memcpy(&part, after, sizeof part);
    const bool is_narrowed = memcmp(before, after, sizeof *after) != 0;
    const int64_t end = (int64_t)part.a_offset + part.a_sz;
    if (result->data || !is_narrowed || part.a_offset < 0 || part.a_sz < 0 ||
        end > (int64_t)before->dimension[0].count)
        return;
    const orca_array1 view = {(char *)before->data + part.a_offset * type->element->size,
                              {{part.a_dims[0].a_lwb, (unsigned long long)part.a_sz}}};
    orca_copy(type, result, &view);
}
