/* shared PROGRAM ARGUMENT...: counter_WAY TASKS MS, cache_WAY TASKS WRITES_PER_MILLE MS, starve_WAY READERS MS. */
#include "shared.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

static unsigned long parse(const char *text, unsigned long least, unsigned long most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value < least || value > most)
        fail("`%s` must be a number from %lu to %lu", text, least, most);
    return value;
}

struct program {
    const char *prefix;
    void (*run)(const char *way, const unsigned long *argument);
    int arguments;
    const char *usage;
    unsigned long least[3], most[3];
};

static const struct program programs[] = {
    {"counter_", run_counter, 2, "TASKS MS", {1, 1}, {TASKS_MOST, 60000}},
    {"cache_", run_cache, 3, "TASKS WRITES_PER_MILLE MS", {1, 0, 1}, {TASKS_MOST, 1000, 60000}},
    {"starve_", run_starve, 2, "READERS MS", {1, 1}, {TASKS_MOST - 1, 60000}},
};

int main(int count, char *words[])
{
    unsigned long argument[3];
    const char *name = count > 1 ? words[1] : "";
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        const struct program *program = &programs[i];
        if (strncmp(name, program->prefix, strlen(program->prefix)) != 0)
            continue;
        if (count != 2 + program->arguments)
            fail("write: %s %s", name, program->usage);
        for (int a = 0; a < program->arguments; a++)
            argument[a] = parse(words[2 + a], program->least[a], program->most[a]);
        program->run(name + strlen(program->prefix), argument);
        return EXIT_SUCCESS;
    }
    fail("there is no program `%s`", name);
}
