/* The main program: one request, one answer, until the laboratory has had enough. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static void serve_hello(const struct request *request)
{
    uint64_t version;
    if (!has_words(request, 2, "hello VERSION") || !parse_number("VERSION", request->word[1], 0, UINT64_MAX, &version))
        return;
    if (version != 1) {
        answer_error("version", "speaks 1");
        return;
    }
    printf("@@ hello protocol=1 language=C kit=1.0 clock=CLOCK_MONOTONIC%s\n",
           partners_in_processes() ? " switches=own" : "");
    answer_ok();
}

static void serve_list(const struct request *request)
{
    if (!has_words(request, 1, "list"))
        return;
    for (const struct clock_source *clock = clock_sources; clock->name; clock++)
        printf("@@ clock name=%s unit=%s\n", clock->name, clock->unit);
    answer_tests();
    answer_ok();
}

static const char placement_usage[] = "placement same P, placement across P Q, or placement free";

/* The words after the placement's name are processors. */
static bool parse_processors(const struct request *request, size_t count, uint64_t processor[])
{
    if (!has_words(request, 2 + count, placement_usage))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!parse_number("a processor", request->word[2 + i], 0, UINT32_MAX, &processor[i]))
            return false;
    return true;
}

static void serve_placement(const struct request *request)
{
    static bool placed;
    uint64_t processor[2];
    const char *refused = NULL;
    const char *how = request->words > 1 ? request->word[1] : "";
    finish_slices();
    if (placed) {
        answer_error("bad-argument", "placement was given before; it is given once, after hello");
        return;
    }
    if (strcmp(how, "same") == 0) {
        if (!parse_processors(request, 1, processor))
            return;
        refused = place_same((unsigned)processor[0]);
    } else if (strcmp(how, "across") == 0) {
        if (!parse_processors(request, 2, processor))
            return;
        if (processor[0] == processor[1]) {
            answer_error("bad-argument", "across wants two processors; `placement same` is for one");
            return;
        }
        refused = place_across((unsigned)processor[0], (unsigned)processor[1]);
    } else if (strcmp(how, "free") == 0) {
        if (!parse_processors(request, 0, processor))
            return;
    } else {
        answer_error("bad-argument", "write: %s", placement_usage);
        return;
    }
    if (refused) {
        answer_error("unsupported", "the system does not let threads run there: %s", refused);
        return;
    }
    placed = true;
    answer_ok();
}

static void serve_usage(const struct request *request)
{
    if (!has_words(request, 1, "usage"))
        return;
    answer_usage();
    answer_ok();
}

static void serve_quit(const struct request *request)
{
    if (!has_words(request, 1, "quit"))
        return;
    finish_slices();
    answer_ok();
    exit(EXIT_SUCCESS);
}

static const struct {
    const char *verb;
    void (*serve)(const struct request *request);
} requests[] = {
    {"hello", serve_hello}, {"list", serve_list},           {"clock", serve_clock},
    {"gaps", serve_gaps},   {"placement", serve_placement}, {"batch", serve_batch},
    {"slice", serve_slice}, {"latency", serve_latency},     {"series", serve_series},
    {"usage", serve_usage}, {"quit", serve_quit},
};

static void serve(const struct request *request)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        if (strcmp(requests[i].verb, request->word[0]) == 0) {
            requests[i].serve(request);
            return;
        }
    }
    answer_error("unknown-request", "%s", request->word[0]);
}

static void *nothing(void *unused)
{
    return unused;
}

/* The C library spares a process without threads the locks of malloc and mutexes. A program that never starts a thread is
 * not what a laboratory for concurrent programs is about, and costs must not depend on which tests ran before. */
static void leave_single_threaded_mode(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0)
        pthread_join(thread, NULL);
}

int main(void)
{
    static char line[KIT_LINE_BYTES + 1];
    size_t length;
    struct request request;
    answer_start();
    resources_start();
    leave_single_threaded_mode();
    for (;;) {
        switch (read_line(line, &length)) {
        case LINE_READ:
            if (parse_request(&request, line, length))
                serve(&request);
            break;
        case LINE_TOO_LONG:
            answer_error("bad-argument", "the request is longer than %d bytes", KIT_LINE_BYTES);
            break;
        case LINE_END:
            finish_slices();
            return EXIT_SUCCESS;
        }
    }
}
