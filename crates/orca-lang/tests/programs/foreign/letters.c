/* Functions in C that use the original's names. */
#include <interface.h>
#include "Letters.h"

static t_char *first(t_string *text)
{
    return (t_char *)text->a_data + text->a_offset;
}

void f_Letters__reverse(t_string *text)
{
    t_char *from = first(text), *to = from + text->a_sz;
    while (from < --to) {
        t_char kept = *from;
        *from++ = *to;
        *to = kept;
    }
}

t_integer f_Letters__count(t_string *text, t_char letter)
{
    t_integer found = 0;
    for (t_integer i = 0; i < text->a_sz; i++)
        found += first(text)[i] == letter;
    return found;
}

/* Fills the row, moves its lower bound to 0, and cuts it. */
t_boolean f_Letters__squares(t_array *row, t_integer limit)
{
    t_integer *numbers = row->a_data;
    for (t_integer i = 0; i < row->a_dims[0].a_nel; i++)
        numbers[i] = (row->a_dims[0].a_lwb + i) * (row->a_dims[0].a_lwb + i);
    row->a_dims[0].a_lwb = row->a_offset = 0;
    row->a_dims[0].a_nel = row->a_sz = limit;
    return numbers[limit - 1] > 10;
}

t_real f_Letters__half(t_integer n, t_integer *rest)
{
    *rest = n % 2;
    return n / 2.0;
}
