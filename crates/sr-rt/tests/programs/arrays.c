// Arrays of bounds known at run time: layout, slices, copies between views, overlapping ones, fills, swaps.
// out: 3 12
// out: 21 22
// out: row 9 9
// out: shifted 1 1 2 3
// out: column 7 7
// out: swapped 5 1
// out: strings ab c
// exit: 1
// has: size mismatch on array assignment:  [1:2] := [0:2]
#include "test.h"

struct instance {
    struct sr_instance head;
};
struct s3 {
    int32_t length;
    char data[3];
};
struct s5 {
    int32_t length;
    char data[5];
};
#define E(a, i, j) (*(int32_t *)((a).data + sr_index(AT, &(a).d[0], i) + sr_index(AT, &(a).d[1], j)))
#define V(a, i) (*(int32_t *)((a).data + sr_index(AT, &(a).d[0], i)))

static void body(struct sr_instance *of, void *parameters)
{
    (void)parameters;
    struct sr_array2 a = {0, {{1, 3, 0}, {0, 1, 0}}};
    a.data = sr_array_make(AT, 0, a.d, 2, sizeof(int32_t));
    for (int i = 1; i <= 3; i++)
        for (int j = 0; j <= 1; j++)
            E(a, i, j) += 10 * i + j + 1;
    SAY(SR_VI((int32_t)sr_length(&a.d[0])), SR_VI(E(a, 1, 1)));
    struct sr_array1 row = {a.data + sr_index(AT, &a.d[0], 2), {a.d[1]}};
    SAY(SR_VI(V(row, 0)), SR_VI(V(row, 1)));
    int32_t nine = 9, seven = 7;
    sr_array_fill(1, 4, row.data, row.d, &nine);
    SAY(T("row"), SR_VI(E(a, 2, 0)), SR_VI(E(a, 2, 1)));
    struct sr_array1 v = {0, {{1, 4, 0}}};
    v.data = sr_array_make(AT, of, v.d, 1, sizeof(int32_t));
    for (int i = 1; i <= 4; i++)
        V(v, i) = i;
    struct sr_array1 to = {v.data + sr_slice(AT, &v.d[0], 2, 4), {{1, 3, 4}}};
    struct sr_array1 from = {v.data + sr_slice(AT, &v.d[0], 1, 3), {{1, 3, 4}}};
    sr_array_copy(AT, 1, 4, to.data, to.d, from.data, from.d);
    SAY(T("shifted"), SR_VI(V(v, 1)), SR_VI(V(v, 2)), SR_VI(V(v, 3)), SR_VI(V(v, 4)));
    struct sr_array1 column = {a.data, {{1, 3, a.d[0].stride}}};
    sr_array_fill(1, 4, column.data, column.d, &seven);
    struct sr_array1 three = {v.data, {{0, 2, 4}}};
    sr_array_copy(AT, 1, 4, three.data, three.d, column.data, column.d);
    SAY(T("column"), SR_VI(E(a, 3, 0)), SR_VI(V(v, 3)));
    V(v, 1) = 1, V(v, 2) = 5;
    struct sr_array1 x = {v.data, {{1, 1, 4}}}, y = {v.data + 4, {{1, 1, 4}}};
    sr_array_swap(AT, 1, 4, x.data, x.d, y.data, y.d);
    SAY(T("swapped"), SR_VI(V(v, 1)), SR_VI(V(v, 2)));
    struct s3 short_ones[2] = {{2, "ab"}, {1, "c"}};
    struct s5 long_ones[2];
    struct sr_dimension short_d = {1, 2, sizeof(struct s3)}, long_d = {1, 2, sizeof(struct s5)};
    sr_array_copy_strings(AT, 1, long_ones, &long_d, 5, short_ones, &short_d);
    SAY(T("strings"), sr_vs(SR_STRING_VALUE(long_ones[0])), sr_vs(SR_STRING_VALUE(long_ones[1])));
    struct sr_dimension two = {1, 2, 4};
    sr_array_copy(AT, 1, 4, v.data, &two, v.data, three.d);
}
MAIN(body, 0);
