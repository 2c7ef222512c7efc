/* Arrays carry their bounds; copies are deep; elements are checked. */
#include "test.h"

static void bounds_are_part_of_the_value(void)
{
    orca_array1 empty, a = row_of(3, 10), b, c;
    orca_init(&row_type, &empty);
    CHECK(ORCA_LB(&empty, 0) == 0 && ORCA_UB(&empty, 0) == -1);
    CHECK(orca_array_size(&row_type, &empty) == 0);
    CHECK(ORCA_LB(&a, 0) == 1 && ORCA_UB(&a, 0) == 3 && orca_array_size(&row_type, &a) == 3);
    orca_array_init(here, &row_type, &b, 1, (const long long[]){5, 7});
    for (int i = 5; i <= 7; i++)
        ORCA_AT1(int32_t, &b, i, here) = 5 + i;
    /* Equal elements, other bounds. */
    CHECK(!orca_equal(&row_type, &a, &b));
    orca_copy(&row_type, &c, &b);
    CHECK(orca_equal(&row_type, &c, &b) && ORCA_LB(&c, 0) == 5);
    CHECK(orca_hash(&row_type, &c) == orca_hash(&row_type, &b));
    orca_assign(&row_type, &c, &a);
    CHECK(orca_equal(&row_type, &c, &a) && ORCA_LB(&c, 0) == 1);
    /* Empty arrays are equal, whatever their bounds. */
    orca_array1 none;
    orca_array_init(here, &row_type, &none, 1, (const long long[]){4, 2});
    CHECK(ORCA_LB(&none, 0) == 4 && ORCA_UB(&none, 0) == 3);
    CHECK(orca_equal(&row_type, &none, &empty));
    CHECK(orca_hash(&row_type, &none) == orca_hash(&row_type, &empty));
    orca_assign(&row_type, &c, &none);
    CHECK(orca_array_size(&row_type, &c) == 0 && ORCA_LB(&c, 0) == 4);
    orca_destroy(&row_type, &a);
    orca_destroy(&row_type, &b);
    orca_destroy(&row_type, &c);
    CHECK(a.data == NULL && orca_array_size(&row_type, &a) == 0);
}

static void rows_differ(void)
{
    orca_array1 rows, copy, row = row_of(4, 1);
    orca_array_init(here, &rows_type, &rows, 2, (const long long[]){1, 3, 0, 1});
    CHECK(ORCA_UB(&ORCA_AT1(orca_array1, &rows, 3, here), 0) == 1);
    orca_assign(&row_type, &ORCA_AT1(orca_array1, &rows, 2, here), &row);
    CHECK(orca_array_size(&row_type, &ORCA_AT1(orca_array1, &rows, 2, here)) == 4);
    CHECK(orca_array_size(&row_type, &ORCA_AT1(orca_array1, &rows, 1, here)) == 2);
    orca_copy(&rows_type, &copy, &rows);
    ORCA_AT1(int32_t, &ORCA_AT1(orca_array1, &rows, 2, here), 1, here) = 99;
    CHECK(ORCA_AT1(int32_t, &ORCA_AT1(orca_array1, &copy, 2, here), 1, here) == 1);
    CHECK(!orca_equal(&rows_type, &copy, &rows));
    /* Arrays of the same size keep their memory. */
    void *before = copy.data;
    orca_assign(&rows_type, &copy, &rows);
    CHECK(copy.data == before && orca_equal(&rows_type, &copy, &rows));
    orca_assign(&rows_type, &copy, &copy);
    CHECK(orca_equal(&rows_type, &copy, &rows));
    orca_move(&rows_type, &copy, &rows);
    CHECK(rows.data == NULL && orca_array_size(&row_type, &copy) == 3);
    orca_destroy(&rows_type, &copy);
    orca_destroy(&row_type, &row);
}

static void dimensions_are_row_by_row(void)
{
    orca_array2 grid;
    orca_array_init(here, &grid_type, &grid, 1, (const long long[]){0, 2, -1, 1});
    for (int i = 0; i <= 2; i++)
        for (int j = -1; j <= 1; j++)
            ORCA_AT2(double, &grid, i, j, here) = 10 * i + j;
    CHECK(((double *)grid.data)[5] == 11.0 && orca_array_size(&grid_type, &grid) == 9);
    CHECK(&ORCA_ATN(double, &grid, 2, here, 2, 1) == (double *)grid.data + 8);
    FAILS("array bound error", "index 2 of dimension 2 is not in -1..1",
          ORCA_AT2(double, &grid, 0, 2, here) = 1);
    FAILS("array bound error", "index -1 is not in 0..2",
          ORCA_AT2(double, &grid, -1, 2, here) = 1);
    orca_destroy(&grid_type, &grid);
    FAILS("array bound error", "index 0 of an empty array",
          ORCA_AT2(double, &grid, 0, 0, here) = 1);
}

static void too_many_elements_are_refused(void)
{
    orca_array2 grid;
    const long long bounds[] = {INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX};
    FAILS("out of memory", "the bounds of an array are too far apart",
          orca_array_init(here, &grid_type, &grid, 1, bounds));
    CHECK(error_kind == ORCA_LIMIT);
    const long long large[] = {INT32_MIN, INT32_MAX, 1, 1 << 30};
    FAILS("out of memory", "4611686018427387904 times 8 bytes are asked for",
          orca_array_init(here, &grid_type, &grid, 1, large));
    const long long none[] = {INT32_MIN, INT32_MAX, 1, 0};
    orca_array_init(here, &grid_type, &grid, 1, none);
    CHECK(orca_array_size(&grid_type, &grid) == 0);
}

static void strings(void)
{
    static const orca_array1 text = ORCA_TEXT("abc");
    orca_array1 s, t = string_of("abc");
    CHECK(orca_equal(&orca_type_string, &text, &t));
    orca_copy(&orca_type_string, &s, &text);
    ORCA_AT1(orca_byte, &s, 1, here) = 'x';
    CHECK(!orca_equal(&orca_type_string, &s, &text));
    char *c = orca_string_to_c(&s);
    CHECK(!strcmp(c, "xbc"));
    orca_free(c);
    FAILS("array bound error", "index 4 is not in 1..3", ORCA_AT1(orca_byte, &s, 4, here) = 'y');
    static const orca_array1 nothing = ORCA_TEXT("");
    orca_assign(&orca_type_string, &s, &nothing);
    orca_destroy(&orca_type_string, &s);
    orca_copy(&orca_type_string, &s, &nothing);
    CHECK(s.data == NULL);
    orca_string_set(&s, "", 0);
    CHECK(ORCA_LB(&s, 0) == 1 && ORCA_UB(&s, 0) == 0);
    orca_destroy(&orca_type_string, &s);
    orca_destroy(&orca_type_string, &t);
}

static void elements_begin_with_their_initial_value(void)
{
    static const struct orca_type jobs_type = {.name = "Jobs", .kind = ORCA_ARRAY,
                                        .size = sizeof(orca_array1), .dimensions = 1,
                                        .element = &job_type};
    orca_array1 jobs;
    orca_array_init(here, &jobs_type, &jobs, 1, (const long long[]){1, 3});
    CHECK(ORCA_UB(&ORCA_AT1(Job, &jobs, 3, here).route, 0) == 2);
    orca_destroy(&jobs_type, &jobs);
}

int main(void)
{
    bounds_are_part_of_the_value();
    rows_differ();
    dimensions_are_row_by_row();
    too_many_elements_are_refused();
    strings();
    elements_begin_with_their_initial_value();
    return failures != 0;
}
