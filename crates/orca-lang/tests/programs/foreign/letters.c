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

/* Drops the first word of its argument, and leaves the result alone: the original passes the target
 * of `text := rest(text)` for both. */
void f_Letters__rest(t_string *text, t_string *result)
{
    t_char *letters = first(text);
    t_integer i = 0;
    while (i < text->a_sz && letters[i] != ' ')
        i++;
    while (i < text->a_sz && letters[i] == ' ')
        i++;
    text->a_offset += i;
    text->a_sz -= i;
    (void)result;
}
