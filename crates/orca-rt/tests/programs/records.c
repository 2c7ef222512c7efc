/* Records and unions: deep copies, relations, tags, containment. */
#include "test.h"

static void records_are_copied_deeply(void)
{
    Job a = job_of("first", 3), b;
    orca_copy(&job_type, &b, &a);
    CHECK(orca_equal(&job_type, &a, &b));
    ORCA_AT1(int32_t, &b.route, 1, here) = 5;
    CHECK(!orca_equal(&job_type, &a, &b) && ORCA_AT1(int32_t, &a.route, 1, here) == 0);
    orca_assign(&job_type, &a, &b);
    CHECK(orca_equal(&job_type, &a, &b));
    CHECK(orca_hash(&job_type, &a) == orca_hash(&job_type, &b));
    orca_destroy(&job_type, &a);
    orca_destroy(&job_type, &b);
}

static void unions_have_one_alternative(void)
{
    Shape s, t;
    orca_init(&shape_type, &s);
    FAILS("union error", "no alternative is set, and 1 is used",
          orca_select(here, &s.tag, 1));
    orca_union_init(here, &shape_type, &s, 3);
    CHECK(ORCA_UB(&s.as.job.route, 0) == 2);
    FAILS("union error", "the tag is 3, and alternative 2 is used",
          orca_select(here, &s.tag, 2));
    orca_copy(&shape_type, &t, &s);
    orca_string_set(&t.as.job.name, "x", 1);
    CHECK(!orca_equal(&shape_type, &s, &t));
    /* A change of the tag destroys the old alternative. */
    Shape points = {.tag = {2, true}, .as.points = row_of(3, 1)};
    orca_assign(&shape_type, &t, &points);
    orca_assign(&shape_type, &t, &t);
    CHECK(orca_equal(&shape_type, &t, &points));
    CHECK(orca_hash(&shape_type, &t) == orca_hash(&shape_type, &points));
    Shape none;
    FAILS("union error", "Shape has no alternative 4",
          orca_union_init(here, &shape_type, &none, 4));
    orca_destroy(&shape_type, &s);
    orca_destroy(&shape_type, &t);
    CHECK(!t.tag.is_set);
    CHECK(orca_equal(&shape_type, &s, &t));
    orca_destroy(&shape_type, &points);
}

static void parts_are_known(void)
{
    orca_array1 rows;
    orca_array_init(here, &rows_type, &rows, 2, (const long long[]){1, 3, 0, 1});
    orca_array1 *one = &ORCA_AT1(orca_array1, &rows, 1, here);
    orca_array1 *two = &ORCA_AT1(orca_array1, &rows, 2, here);
    int32_t *element = &ORCA_AT1(int32_t, one, 0, here);
    orca_check_alias(here, &row_type, one, &row_type, two);
    orca_check_alias(here, &row_type, two, &orca_type_integer, element);
    static const char why[] =
        "one actual parameter is or holds another that the function may change";
    FAILS("illegal alias", why, orca_check_alias(here, &row_type, one, &row_type, one));
    FAILS("illegal alias", why,
          orca_check_alias(here, &row_type, one, &orca_type_integer, element));
    FAILS("illegal alias", why,
          orca_check_alias(here, &orca_type_integer, element, &rows_type, &rows));
    orca_destroy(&rows_type, &rows);

    Queue queue;
    orca_init(&queue_type, &queue);
    orca_node name = orca_graph_add(here, &queue_type, &queue.graph);
    QueueNode *node = orca_graph_node(here, &queue.graph, name);
    CHECK(orca_holds(&queue_type, &queue, &node->job.cost));
    CHECK(orca_holds(&queue_type, &queue, node->job.route.data));
    CHECK(!orca_holds(&queue_type, &queue, &name));
    orca_destroy(&queue_type, &queue);

    Shape shape;
    orca_init(&shape_type, &shape);
    orca_union_init(here, &shape_type, &shape, 3);
    CHECK(orca_holds(&shape_type, &shape, shape.as.job.route.data));
    orca_destroy(&shape_type, &shape);
}

static void numbers(void)
{
    CHECK(orca_div32(here, -7, 2) == -3 && orca_mod32(here, -7, 2) == -1);
    CHECK(orca_div32(here, INT32_MIN, -1) == INT32_MIN);
    CHECK(orca_div64(here, INT64_MIN, -1) == INT64_MIN);
    FAILS("divide by 0", "an integer is divided by it", orca_div32(here, 1, 0));
    FAILS("divide by 0", "a real is divided by it", orca_divide(here, 1, -0.0));
    FAILS("modulo by <= 0", "7 % -2", orca_mod32(here, 7, -2));
    CHECK(orca_shl32(1, 31) == INT32_MIN && orca_shr32(-8, 1) == -4);
    CHECK(orca_trunc(-2.9) == -2 && orca_trunc(1e10) == INT32_MIN);
    CHECK(orca_trunc(2147483647.5) == INT32_MAX && orca_trunc(0.0 / 1e-320) == 0);
    CHECK(orca_value(here, "CHR", 255, 256) == 255 && orca_cap('a') == 'A');
    FAILS("range error in CHR or VAL", "CHR of 256 is not in 0..255",
          orca_value(here, "CHR", 256, 256));
    double zero = 0.0, minus = -0.0, none = __builtin_nan("");
    CHECK(orca_equal(&orca_type_real, &zero, &minus));
    CHECK(orca_hash(&orca_type_real, &zero) == orca_hash(&orca_type_real, &minus));
    CHECK(!orca_equal(&orca_type_real, &none, &none));
}

int main(void)
{
    records_are_copied_deeply();
    unions_have_one_alternative();
    parts_are_known();
    numbers();
    return failures != 0;
}
