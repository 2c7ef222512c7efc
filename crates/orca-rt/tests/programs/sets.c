/* Sets and bags: the order in which members came, operators, FROM. */
#include "test.h"

static orca_set set_of(const struct orca_type *type, int n, const int32_t *members)
{
    orca_set set = {NULL};
    for (int i = 0; i < n; i++)
        orca_set_insert(here, type, &set, &members[i]);
    return set;
}
#define SET(type, ...)                                                                            \
    set_of(type, sizeof((int32_t[]){__VA_ARGS__}) / 4, (int32_t[]){__VA_ARGS__})

/* Whether the members are these, in this order. */
static bool is(const struct orca_type *type, const orca_set *set, int n, const int32_t *members)
{
    struct orca_cursor cursor = {0, 0};
    const int32_t *member;
    int i = 0;
    while ((member = orca_set_next(type, set, &cursor)))
        if (i == n || *member != members[i++])
            return false;
    return i == n && orca_set_size(set) == n;
}
#define IS(type, set, ...)                                                                        \
    is(type, set, sizeof((int32_t[]){__VA_ARGS__}) / 4, (int32_t[]){__VA_ARGS__})

static void members_keep_their_order(void)
{
    const struct orca_type *type = &numbers_type;
    orca_set set = SET(type, 5, 3, 9, 3, 5, 1), copy;
    CHECK(IS(type, &set, 5, 3, 9, 1));
    int32_t three = 3, four = 4, first;
    CHECK(orca_set_has(type, &set, &three) && !orca_set_has(type, &set, &four));
    orca_set_delete(type, &set, &three);
    orca_set_delete(type, &set, &four);
    CHECK(IS(type, &set, 5, 9, 1));
    orca_set_insert(here, type, &set, &three);
    CHECK(IS(type, &set, 5, 9, 1, 3));
    orca_copy(type, &copy, &set);
    CHECK(IS(type, &copy, 5, 9, 1, 3));
    orca_set_from(here, type, &set, &first);
    CHECK(first == 5 && IS(type, &set, 9, 1, 3) && IS(type, &copy, 5, 9, 1, 3));
    orca_destroy(type, &set);
    orca_destroy(type, &copy);
    FAILS("FROM on empty set or bag", "", orca_set_from(here, type, &set, &first));
}

static void sets_grow_and_shrink(void)
{
    const struct orca_type *type = &numbers_type;
    orca_set set = {NULL};
    int32_t taken;
    for (int32_t i = 0; i < 10000; i++)
        orca_set_insert(here, type, &set, &i);
    for (int32_t i = 0; i < 10000; i += 2)
        orca_set_delete(type, &set, &i);
    CHECK(orca_set_size(&set) == 5000);
    for (int32_t i = 0; i < 10000; i++)
        CHECK(orca_set_has(type, &set, &i) == (i % 2 == 1));
    for (int32_t i = 1; i < 10000; i += 2) {
        orca_set_from(here, type, &set, &taken);
        CHECK(taken == i);
    }
    /* Used as a queue, it needs room only for its members. */
    for (int32_t i = 0; i < 10000; i++) {
        orca_set_insert(here, type, &set, &i);
        orca_set_from(here, type, &set, &taken);
        CHECK(taken == i);
    }
    CHECK(orca_set_size(&set) == 0);
    orca_destroy(type, &set);
}

static void operators(void)
{
    const struct orca_type *type = &numbers_type;
    orca_set a = SET(type, 1, 2, 3), b = SET(type, 4, 3, 2), r;
    orca_set_combine(here, type, '+', &r, &a, &b);
    CHECK(IS(type, &r, 1, 2, 3, 4));
    orca_destroy(type, &r);
    orca_set_combine(here, type, '*', &r, &a, &b);
    CHECK(IS(type, &r, 2, 3));
    orca_destroy(type, &r);
    orca_set_combine(here, type, '-', &r, &a, &b);
    CHECK(IS(type, &r, 1));
    orca_destroy(type, &r);
    orca_set_combine(here, type, '/', &r, &a, &b);
    CHECK(IS(type, &r, 1, 4));
    orca_destroy(type, &r);
    orca_set_combine(here, type, '-', &r, &a, &a);
    CHECK(orca_set_size(&r) == 0);
    orca_set none = {NULL};
    CHECK(orca_equal(type, &r, &none));
    orca_destroy(type, &r);
    orca_set c = SET(type, 3, 1, 2);
    CHECK(orca_equal(type, &a, &c) && !orca_equal(type, &a, &b));
    CHECK(orca_hash(type, &a) == orca_hash(type, &c));
    orca_destroy(type, &a);
    orca_destroy(type, &b);
    orca_destroy(type, &c);
}

static void bags_count(void)
{
    const struct orca_type *type = &number_bag_type;
    orca_set a = SET(type, 1, 2, 1, 3), b = SET(type, 2, 1, 2), r;
    int32_t one = 1, taken;
    CHECK(IS(type, &a, 1, 1, 2, 3) && orca_set_size(&a) == 4);
    orca_set_combine(here, type, '+', &r, &a, &b);
    CHECK(IS(type, &r, 1, 1, 1, 2, 2, 2, 3));
    orca_destroy(type, &r);
    orca_set_combine(here, type, '*', &r, &a, &b);
    CHECK(IS(type, &r, 1, 2));
    orca_destroy(type, &r);
    orca_set_combine(here, type, '-', &r, &a, &b);
    CHECK(IS(type, &r, 1, 3));
    orca_destroy(type, &r);
    orca_set_combine(here, type, '/', &r, &a, &b);
    CHECK(IS(type, &r, 1, 3, 2));
    orca_destroy(type, &r);
    orca_set c = SET(type, 1, 2, 3);
    CHECK(!orca_equal(type, &a, &c));
    orca_set_delete(type, &a, &one);
    CHECK(orca_equal(type, &a, &c) && orca_set_has(type, &a, &one));
    orca_set_from(here, type, &a, &taken);
    CHECK(taken == 1 && IS(type, &a, 2, 3));
    orca_destroy(type, &a);
    orca_destroy(type, &b);
    orca_destroy(type, &c);
}

static void members_are_values(void)
{
    orca_set names = {NULL}, copy;
    orca_array1 name = string_of("ann"), taken;
    orca_set_insert(here, &names_type, &names, &name);
    ORCA_AT1(uint8_t, &name, 1, here) = 'x';
    CHECK(!orca_set_has(&names_type, &names, &name));
    orca_set_insert(here, &names_type, &names, &name);
    orca_copy(&names_type, &copy, &names);
    orca_set_delete(&names_type, &names, &name);
    CHECK(orca_set_size(&names) == 1 && orca_set_size(&copy) == 2);
    orca_set_from(here, &names_type, &copy, &taken);
    CHECK(((char *)taken.data)[0] == 'a');
    orca_destroy(&orca_type_string, &taken);
    orca_destroy(&orca_type_string, &name);
    orca_destroy(&names_type, &names);
    orca_destroy(&names_type, &copy);

    /* Sets as members are compared by their members, in any order. */
    orca_set sets = {NULL}, one = SET(&numbers_type, 1, 2), other = SET(&numbers_type, 2, 1);
    orca_set_insert(here, &sets_type, &sets, &one);
    orca_set_insert(here, &sets_type, &sets, &other);
    CHECK(orca_set_size(&sets) == 1);
    orca_destroy(&sets_type, &sets);
    orca_destroy(&numbers_type, &one);
    orca_destroy(&numbers_type, &other);
}

int main(void)
{
    members_keep_their_order();
    sets_grow_and_shrink();
    operators();
    bags_count();
    members_are_values();
    return failures != 0;
}
