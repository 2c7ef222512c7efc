/* Work that a test may end early: kit_fail jumps out of the frame, operation or preparation that called it. */
#include "internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static sigjmp_buf failure;
static pthread_t attempting;
static bool in_attempt;
static char failure_text[512];

static bool completes(void (*work)(void *), void *context)
{
    if (sigsetjmp(failure, 1) != 0)
        return false;
    work(context);
    return true;
}

const char *attempt(void (*work)(void *), void *context)
{
    attempting = pthread_self();
    in_attempt = true;
    bool completed = completes(work, context);
    in_attempt = false;
    stop_reporting();
    return completed ? NULL : failure_text;
}

static void run_reset(void *context)
{
    const struct kit_test *const *test = context;
    run_hook((*test)->reset);
}

void reset_after_failure(const struct kit_test *test)
{
    char first[sizeof failure_text];
    memcpy(first, failure_text, sizeof first);
    attempt(run_reset, &test);
    memcpy(failure_text, first, sizeof first);
}

void kit_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure_text, sizeof failure_text, format, arguments);
    va_end(arguments);

    /* Another thread cannot leave the measuring thread's frame, and a hook that fails leaves nothing to go on with. */
    if (!in_attempt || !pthread_equal(pthread_self(), attempting)) {
        fprintf(stderr, "kit_fail outside of a test's measuring thread: %s\n", failure_text);
        abort();
    }
    siglongjmp(failure, 1);
}

void *touched_storage(size_t count, size_t bytes)
{
    void *storage = calloc(count, bytes);
    if (!storage) {
        answer_error("failed", "no storage for the %zu results: ask for fewer, or raise the memory limit", count);
        return NULL;
    }
    memset(storage, 0x55, count * bytes);
    return storage;
}
