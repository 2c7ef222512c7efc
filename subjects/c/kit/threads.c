/* Where threads run, and what they say of it. */
#include "internal.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#define REPORTS_MOST 1024

atomic_bool kit_reporting_now;

static pthread_attr_t across_attributes;
static bool across;
static int partner_processor = -1;

static struct kit_report reports[REPORTS_MOST];
static size_t report_count;
static pthread_mutex_t reports_lock = PTHREAD_MUTEX_INITIALIZER;

/* Placement --------------------------------------------------------------------------------------------------------- */

static bool set_of(unsigned processor, cpu_set_t *set)
{
    if (processor >= CPU_SETSIZE)
        return false;
    CPU_ZERO(set);
    CPU_SET(processor, set);
    return true;
}

static const char *go_to(unsigned processor)
{
    cpu_set_t set;
    if (!set_of(processor, &set))
        return "the processor's number is too high";
    return sched_setaffinity(0, sizeof set, &set) == 0 ? NULL : strerror(errno);
}

const char *place_same(unsigned processor)
{
    const char *refused = go_to(processor);
    if (!refused)
        partner_processor = (int)processor;
    return refused;
}

/* Partners inherit the main thread's processor, so under `same` nothing more is needed; here they get their own. Whether
 * the system allows it is seen by going there once. */
const char *place_across(unsigned main_processor, unsigned elsewhere)
{
    cpu_set_t set;
    const char *refused = go_to(elsewhere);
    if (refused)
        return refused;
    if ((refused = go_to(main_processor)))
        return refused;
    set_of(elsewhere, &set);
    int error = pthread_attr_init(&across_attributes);
    if (error == 0)
        error = pthread_attr_setaffinity_np(&across_attributes, sizeof set, &set);
    if (error != 0)
        return strerror(error);
    across = true;
    partner_processor = (int)elsewhere;
    return NULL;
}

int kit_partner_processor(void)
{
    return partner_processor;
}

const pthread_attr_t *kit_partner_attributes(void)
{
    return across ? &across_attributes : NULL;
}

bool kit_partners_elsewhere(void)
{
    return across;
}

void kit_start_partner(pthread_t *thread, void *(*body)(void *), void *context)
{
    int error = pthread_create(thread, kit_partner_attributes(), body, context);
    if (error != 0)
        kit_fail("a partner thread could not be started: %s", strerror(error));
}

/* Reports ---------------------------------------------------------------------------------------------------------- */

static bool same_report(const struct kit_report *a, const struct kit_report *b)
{
    return a->policy == b->policy && a->priority == b->priority && a->processor == b->processor &&
           strcmp(a->role, b->role) == 0 && memcmp(a->allowed, b->allowed, sizeof a->allowed) == 0;
}

void kit_read_report(struct kit_report *report, const char *role)
{
    struct sched_param parameters = {0};
    memset(report, 0, sizeof *report);
    strncpy(report->role, role, sizeof report->role - 1);
    report->count = 1;
    report->policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    sched_getparam(0, &parameters);
    report->priority = parameters.sched_priority;
    report->processor = sched_getcpu();
    sched_getaffinity(0, sizeof report->allowed, report->allowed);
}

void kit_add_report(const struct kit_report *report)
{
    pthread_mutex_lock(&reports_lock);
    size_t i = 0;
    while (i < report_count && !same_report(&reports[i], report))
        i++;
    if (i < report_count)
        reports[i].count += report->count;
    else if (report_count < REPORTS_MOST)
        reports[report_count++] = *report;
    pthread_mutex_unlock(&reports_lock);
}

void kit_thread_reports(const char *role)
{
    struct kit_report report;
    kit_read_report(&report, role);
    kit_add_report(&report);
}

void start_reporting(void)
{
    atomic_store(&kit_reporting_now, true);
    kit_thread_reports("main");
}

void stop_reporting(void)
{
    atomic_store(&kit_reporting_now, false);
}

void forget_reports(void)
{
    report_count = 0;
}

static void answer_policy(int policy)
{
    switch (policy) {
    case SCHED_OTHER: fputs("other", stdout); break;
    case SCHED_FIFO: fputs("fifo", stdout); break;
    case SCHED_RR: fputs("rr", stdout); break;
    default: printf("%d", policy);
    }
}

static void answer_allowed(const cpu_set_t *allowed)
{
    size_t bytes = KIT_SETS * sizeof *allowed;
    const char *separator = "";
    for (int first = 0; first < KIT_SETS * CPU_SETSIZE; first++) {
        if (!CPU_ISSET_S(first, bytes, allowed))
            continue;
        int last = first;
        while (last + 1 < KIT_SETS * CPU_SETSIZE && CPU_ISSET_S(last + 1, bytes, allowed))
            last++;
        printf(last > first ? "%s%d-%d" : "%s%d", separator, first, last);
        separator = ",";
        first = last;
    }
}

void answer_reports(void)
{
    for (size_t i = 0; i < report_count; i++) {
        const struct kit_report *report = &reports[i];
        fputs("@@ thread role=", stdout);
        answer_value(report->role);
        fputs(" policy=", stdout);
        answer_policy(report->policy);
        printf(" priority=%d processor=%d allowed=", report->priority, report->processor);
        answer_allowed(report->allowed);
        printf(" count=%llu\n", (unsigned long long)report->count);
    }
}
