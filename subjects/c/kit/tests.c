/* The tables of tests: listed and searched. */
#include "internal.h"

#include <inttypes.h>
#include <string.h>

static const char *const kind_names[] = {"frame", "latency", "series"};

static void answer_field(const char *key, const char *value)
{
    if (!value)
        return;
    printf(" %s=", key);
    answer_value(value);
}

static void answer_table(const struct kit_test *test)
{
    for (; test->name; test++) {
        printf("@@ test name=%s kind=%s", test->name, kind_names[test->kind]);
        answer_field("arg", test->arg_unit);
        answer_field("switches", test->switches);
        if (test->threads > 1)
            printf(" threads=%u", test->threads);
        answer_field("work", test->work);
        if (test->most_iterations > 0)
            printf(" most=%" PRIu64, test->most_iterations);
        answer_field("absent", test->absent);
        putchar('\n');
    }
}

void answer_tests(void)
{
    answer_table(self_tests);
    for (size_t i = 0; kit_tables[i]; i++)
        answer_table(kit_tables[i]);
}

bool partners_in_processes(void)
{
    for (size_t i = 0; kit_tables[i]; i++)
        for (const struct kit_test *test = kit_tables[i]; test->name; test++)
            if (test->begin)
                return true;
    return false;
}

static const struct kit_test *find_in(const struct kit_test *test, const char *name)
{
    while (test->name && strcmp(test->name, name) != 0)
        test++;
    return test->name ? test : NULL;
}

static const struct kit_test *find_test(const char *name)
{
    const struct kit_test *found = find_in(self_tests, name);
    for (size_t i = 0; !found && kit_tables[i]; i++)
        found = find_in(kit_tables[i], name);
    return found;
}

static bool takes_argument(const struct kit_test *test, const struct request *request, uint64_t *argument)
{
    *argument = 0;
    if (test->arg_unit)
        return number_field(request, "arg", 0, INT64_MAX, argument);
    if (find_field(request, "arg")) {
        answer_error("bad-argument", "%s takes no argument", test->name);
        return false;
    }
    return true;
}

const struct kit_test *requested_test(const struct request *request, enum kit_kind kind, uint64_t *argument)
{
    const struct kit_test *test = find_test(request->word[1]);
    if (!test) {
        answer_error("unknown-test", "%s; `list` names the tests", request->word[1]);
    } else if (test->absent) {
        answer_error("unsupported", "%s: %s", test->name, test->absent);
    } else if (test->kind != kind) {
        answer_error("bad-argument", "%s is a %s test, not a %s test", test->name, kind_names[test->kind], kind_names[kind]);
    } else if (takes_argument(test, request, argument)) {
        return test;
    }
    return NULL;
}
