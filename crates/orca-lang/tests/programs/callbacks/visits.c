/* Functions in C that call functions of the program. */
#include <interface.h>
#include "Visits.h"

extern t_integer f_Answers__scaled(t_integer, t_integer);
extern t_boolean f_Answers__first(t_array *row, t_integer *value);
extern void f_Answers__count(int *flags, void *seen, t_integer by);
extern void f_Answers__words(t_integer, t_string *result);

t_integer f_Visits__each(t_array *row, t_integer factor)
{
    t_integer first = 0;
    if (!f_Answers__first(row, &first))
        return -1;
    return f_Answers__scaled(first, factor);
}

void f_Visits__report(void *seen, t_string *result)
{
    int flags = 0;
    f_Answers__count(&flags, seen, 40);
    f_Answers__count(&flags, seen, 2);
    f_Answers__words(3, result);
    f_Answers__words(4, result);
}
