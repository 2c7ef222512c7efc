// Globals are made once, what they import before them; their finals run after main's, who imports before what it imports.
// out: inner
// out: outer
// out: main 5
// out: main's final
// out: outer's final
// out: inner's final
#include "test.h"

struct instance {
    struct sr_instance head;
    int32_t value;
};

static struct sr_instance *inner_global, *outer_global;

static void inner(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    ((struct instance *)i)->value = 5;
    sr_nap(AT, 1);
    SAY(T("inner"));
}
static void inner_final(struct sr_instance *i) { (void)i; SAY(T("inner's final")); }
static const struct sr_component inner_component = {"inner", sizeof(struct instance), inner, inner_final, &inner_global};

static void outer(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    sr_need_global(AT, &inner_component);
    SAY(T("outer"));
}
static void outer_final(struct sr_instance *i) { (void)i; SAY(T("outer's final")); }
static const struct sr_component outer_component = {"outer", sizeof(struct instance), outer, outer_final, &outer_global};

static void body(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    sr_need_global(AT, &outer_component);
    sr_need_global(AT, &inner_component);
    SAY(T("main"), SR_VI(((struct instance *)inner_global)->value));
}
static void last(struct sr_instance *i) { (void)i; SAY(T("main's final")); }
MAIN(body, last);
