/* What takes the processor away: a clock is read for seconds, and only its gaps are kept. */
#include "internal.h"

#include <inttypes.h>
#include <stdlib.h>

#define SHORTEST_NS 1000000u
#define LONGEST_NS UINT64_C(60000000000)

static void answer_gaps(const struct gap_loop *loop, const struct resources *before, const struct resources *after)
{
    uint64_t kept = loop->gaps < KIT_GAPS_MOST ? loop->gaps : KIT_GAPS_MOST;
    for (uint64_t i = 0; i < kept; i++)
        printf("@@ gap %" PRIu64 " %" PRIu64 "\n", loop->gap[i].start, loop->gap[i].duration);
    printf("@@ loop readings=%" PRIu64 " elapsed=%" PRIu64 " wait=", loop->readings, loop->elapsed);
    if (before->wait_known && after->wait_known)
        printf("%" PRIu64, after->wait_ns - before->wait_ns);
    else
        putchar('-');
    printf(" gaps=%" PRIu64 " lost=%" PRIu64 "\n", loop->gaps, loop->lost);
    answer_reports();
    answer_ok();
}

void serve_gaps(const struct request *request)
{
    struct gap_loop loop = {0};
    struct resources before, after;
    if (!has_words(request, 2, "gaps NAME time=NS over=D"))
        return;
    const struct clock_source *clock = requested_clock(request);
    if (!clock || !number_field(request, "time", SHORTEST_NS, LONGEST_NS, &loop.time_ns) ||
        !number_field(request, "over", 0, INT64_MAX, &loop.over))
        return;
    loop.gap = touched_storage(KIT_GAPS_MOST, sizeof *loop.gap);
    if (!loop.gap)
        return;
    forget_reports();
    kit_thread_reports("main");
    read_resources(&before);
    clock->watch(&loop);
    read_resources(&after);
    kit_thread_reports("main");
    answer_gaps(&loop, &before, &after);
    free(loop.gap);
}
