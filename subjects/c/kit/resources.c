/* What the process has used so far. Read outside of timed regions. */
#include "internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int schedstat = -1;

/* `thread-self` is the thread that opens it: the measuring thread, ever after. */
void resources_start(void)
{
    schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

/* Three numbers: time on the processor, time ready but not running (both ns), slices. A kernel that keeps no such account
 * has no file, or zeros in it. */
static bool read_wait(uint64_t *wait_ns)
{
    char text[96];
    uint64_t on_processor;
    ssize_t got = schedstat < 0 ? -1 : pread(schedstat, text, sizeof text - 1, 0);
    if (got <= 0)
        return false;
    text[got] = '\0';
    return sscanf(text, "%" SCNu64 " %" SCNu64, &on_processor, wait_ns) == 2 && on_processor > 0;
}

static uint64_t elsewhere;

void kit_add_switches(uint64_t switches)
{
    elsewhere += switches;
}

void read_resources(struct resources *resources)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    resources->voluntary = (uint64_t)usage.ru_nvcsw;
    resources->involuntary = (uint64_t)usage.ru_nivcsw;
    resources->minor = (uint64_t)usage.ru_minflt;
    resources->major = (uint64_t)usage.ru_majflt;
    resources->elsewhere = elsewhere;
    resources->wait_known = read_wait(&resources->wait_ns);
}

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* A number from a line `Key: 123` of /proc/self/status; 0 where there is none. */
static uint64_t status_number(const char *status, const char *key)
{
    uint64_t number = 0;
    const char *line = strstr(status, key);
    if (line)
        sscanf(line + strlen(key), "%" SCNu64, &number);
    return number;
}

/* The peak is VmHWM: ru_maxrss would still hold the peak of the parent that this process was forked from. */
void answer_usage(void)
{
    char status[4096] = "";
    struct rusage usage;
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t got = read(file, status, sizeof status - 1);
        status[got > 0 ? got : 0] = '\0';
        close(file);
    }
    getrusage(RUSAGE_SELF, &usage);
    uint64_t peak_kib = status_number(status, "\nVmHWM:");
    if (peak_kib == 0)
        peak_kib = (uint64_t)usage.ru_maxrss;
    printf("@@ usage user=%" PRIu64 " system=%" PRIu64 " peak_rss=%" PRIu64 " minor=%ld major=%ld voluntary=%ld "
           "involuntary=%ld threads=%" PRIu64 "\n",
           nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime), peak_kib * 1024, usage.ru_minflt, usage.ru_majflt,
           usage.ru_nvcsw, usage.ru_nivcsw, status_number(status, "\nThreads:"));
}
