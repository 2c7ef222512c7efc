/* Values as bytes and back. Wrong bytes are an error, and never more than that. */
#include "test.h"

static int32_t twice(int32_t x) { return 2 * x; }
static int32_t thrice(int32_t x) { return 3 * x; }
static const struct orca_routine twice_routine = {"twice", (void (*)(void))twice, 0};
static const struct orca_routine thrice_routine = {"thrice", (void (*)(void))thrice, 1};
static const struct orca_routine *const table[] = {&twice_routine, &thrice_routine};
const struct orca_routines orca_routines = {table, 2};

static const struct orca_type colour_type = {.name = "Colour", .kind = ORCA_CHOICE,
                                             .is_plain = true,
                                      .size = 1, .count = 3};
static const struct orca_type colours_type = {.name = "Colours", .kind = ORCA_ARRAY,
                                       .size = sizeof(orca_array1), .dimensions = 1,
                                       .element = &colour_type};

/* A value of all kinds. */
typedef struct {
    int16_t small;
    int64_t large;
    float narrow;
    double wide;
    uint8_t flag;
    orca_function code;
    orca_array2 grid;
    orca_array1 colours;
    Shape shape;
    orca_set names, bag, sets;
    Queue queue;
} All;
#define FIELD(n, t) {.name = #n, .type = &t, .offset = offsetof(All, n)}
static const struct orca_field all_fields[] = {
    FIELD(small, orca_type_shortint), FIELD(large, orca_type_longint),
    FIELD(narrow, orca_type_shortreal), FIELD(wide, orca_type_real),
    FIELD(flag, orca_type_boolean), FIELD(code, orca_type_function), FIELD(grid, grid_type),
    FIELD(colours, colours_type), FIELD(shape, shape_type), FIELD(names, names_type),
    FIELD(bag, number_bag_type), FIELD(sets, sets_type), FIELD(queue, queue_type)};
static const struct orca_type all_type = {.name = "All", .kind = ORCA_RECORD, .size = sizeof(All),
                                   .count = sizeof all_fields / sizeof *all_fields,
                                   .fields = all_fields};

static void fill_sets(All *all)
{
    for (int32_t i = 0; i < 5; i++) {
        orca_array1 name = string_of(&"name of a member"[i]);
        orca_set numbers = {NULL};
        orca_set_insert(here, &names_type, &all->names, &name);
        orca_set_insert(here, &number_bag_type, &all->bag, &(int32_t){i / 2});
        orca_set_insert(here, &numbers_type, &numbers, &i);
        orca_set_insert(here, &sets_type, &all->sets, &numbers);
        orca_destroy(&orca_type_string, &name);
        orca_destroy(&numbers_type, &numbers);
    }
}

static All all_of(void)
{
    All all;
    orca_init(&all_type, &all);
    all.small = -3;
    all.large = -5000000000;
    all.narrow = 0.5f;
    all.wide = 1e300;
    all.flag = 1;
    all.code = &thrice_routine;
    orca_array_init(here, &grid_type, &all.grid, 1, (const long long[]){-2, 0, 1, 2});
    ORCA_AT2(double, &all.grid, 0, 2, here) = 2.5;
    orca_array_init(here, &colours_type, &all.colours, 1, (const long long[]){0, 3});
    ORCA_AT1(uint8_t, &all.colours, 3, here) = 2;
    orca_union_init(here, &shape_type, &all.shape, 3);
    orca_string_set(&all.shape.as.job.name, "within", 6);
    fill_sets(&all);
    orca_node gone = orca_graph_add(here, &queue_type, &all.queue.graph);
    all.queue.first = orca_graph_add(here, &queue_type, &all.queue.graph);
    orca_graph_delete(here, &queue_type, &all.queue.graph, gone);
    return all;
}

static void values_survive(void)
{
    All all = all_of(), none;
    orca_init(&all_type, &none);
    for (uint32_t i = 0; i < all_type.count; i++) {
        const struct orca_field *field = &all_type.fields[i];
        CHECK(survives(field->type, (char *)&all + field->offset));
        CHECK(survives(field->type, (char *)&none + field->offset));
    }
    orca_destroy(&all_type, &all);
}

static void names_survive(void)
{
    All all = all_of();
    struct orca_writer buffer = {NULL, 0, 0};
    orca_put(&queue_type, &all.queue, &buffer);
    Queue copy;
    struct orca_reader reader = {buffer.bytes, buffer.bytes + buffer.length, NULL};
    CHECK(orca_get(&queue_type, &copy, &reader));
    CHECK(ORCA_SAME_NODE(copy.first, all.queue.first));
    orca_graph_node(here, &copy.graph, copy.first);
    orca_node one = orca_graph_add(here, &queue_type, &copy.graph);
    orca_node other = orca_graph_add(here, &queue_type, &all.queue.graph);
    CHECK(ORCA_SAME_NODE(one, other));
    orca_destroy(&queue_type, &copy);
    orca_destroy(&all_type, &all);
    orca_free(buffer.bytes);
}

/* Reads bytes. Values that are read can be used and destroyed. */
static bool try(const uint8_t *bytes, size_t n)
{
    /* The memory has exactly this size, so that a read past its end is found. */
    uint8_t *exact = malloc(n ? n : 1);
    if (n)
        memcpy(exact, bytes, n);
    All all, copy;
    struct orca_reader reader = {exact, exact + n, NULL};
    bool is_right = orca_get(&all_type, &all, &reader);
    CHECK(is_right == !reader.wrong);
    if (is_right) {
        orca_copy(&all_type, &copy, &all);
        orca_destroy(&all_type, &copy);
        orca_graph_add(here, &queue_type, &all.queue.graph);
    }
    orca_destroy(&all_type, &all);
    free(exact);
    return is_right;
}

static uint32_t state = 1;
static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void hostile_bytes_are_refused(void)
{
    All all = all_of();
    struct orca_writer buffer = {NULL, 0, 0};
    orca_put(&all_type, &all, &buffer);
    orca_destroy(&all_type, &all);
    CHECK(try(buffer.bytes, buffer.length));
    for (size_t n = 0; n < buffer.length; n++)
        CHECK(!try(buffer.bytes, n));
    static const uint8_t odd[] = {0, 1, 2, 0x7F, 0x80, 0xFF};
    for (size_t i = 0; i < buffer.length; i++) {
        uint8_t before = buffer.bytes[i];
        for (size_t k = 0; k < sizeof odd; k++) {
            buffer.bytes[i] = odd[k];
            try(buffer.bytes, buffer.length);
        }
        buffer.bytes[i] = before;
    }
    for (int round = 0; round < 3000; round++) {
        uint8_t *copy = malloc(buffer.length);
        memcpy(copy, buffer.bytes, buffer.length);
        for (uint32_t k = next_random() % 8 + 1; k; k--)
            copy[next_random() % buffer.length] = (uint8_t)next_random();
        try(copy, buffer.length);
        free(copy);
    }
    orca_free(buffer.bytes);
}

/* Checks that bytes are refused for this reason. */
static void refuse(const struct orca_type *type, const char *why, size_t n, const uint8_t *bytes)
{
    struct orca_reader reader = {bytes, bytes + n, NULL};
    void *value = orca_allocate(NULL, 1, type->size);
    CHECK(!orca_get(type, value, &reader));
    if (!reader.wrong || strcmp(reader.wrong, why)) {
        fprintf(stderr, "%s: %s\n", type->name, reader.wrong ? reader.wrong : "it was read");
        failures++;
    }
    orca_free(value);
}
#define REFUSE(type, why, ...)                                                                    \
    refuse(type, why, sizeof((uint8_t[]){__VA_ARGS__}), (uint8_t[]){__VA_ARGS__})

static void reasons_are_told(void)
{
    static const char choice[] = "a boolean or a value of an enumeration is out of range";
    static const char tag[] = "a union has no such tag";
    static const char chain[] = "the free nodes of a graph are not in one chain";
    REFUSE(&orca_type_boolean, choice, 2);
    REFUSE(&colour_type, choice, 3);
    REFUSE(&orca_type_function, "there is no function of this number", 3, 0, 0, 0);
    REFUSE(&shape_type, tag, 2);
    REFUSE(&shape_type, tag, 1, 9, 0, 0, 0, 0, 0, 0, 0);
    REFUSE(&row_type, "an array has too many elements", 1, 0, 0, 0, 0, 0, 0, 0,
           0, 0, 0, 0, 1, 0, 0, 0, 7);
    REFUSE(&row_type, "the bounds of an array are out of range", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
           0, 0, 0, 0, 0x80);
    REFUSE(&numbers_type, "a set or bag has a member twice", 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
    REFUSE(&number_bag_type, "a count of a bag is out of range", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
           0, 1, 0, 0, 0);
    /* A free slot that is its own successor, one that does not exist, and one in a graph without slots. */
    REFUSE(&queue_type, chain, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0);
    REFUSE(&queue_type, chain, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    REFUSE(&queue_type, chain, 0, 0, 0, 0, 1, 0, 0, 0);
    REFUSE(&queue_type, "a node of a graph has no age", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void functions_come_back(void)
{
    orca_function function = &twice_routine, copy;
    struct orca_writer buffer = {NULL, 0, 0};
    orca_put(&orca_type_function, &function, &buffer);
    struct orca_reader reader = {buffer.bytes, buffer.bytes + buffer.length, NULL};
    CHECK(orca_get(&orca_type_function, &copy, &reader) && copy == function);
    CHECK(((int32_t (*)(int32_t))orca_code(here, copy))(4) == 8);
    orca_free(buffer.bytes);
    copy = NULL;
    FAILS("unknown error", "the function variable that is called has no value",
          orca_code(here, copy));
}

int main(void)
{
    values_survive();
    names_survive();
    hostile_bytes_are_refused();
    reasons_are_told();
    functions_come_back();
    return failures != 0;
}
