/* The monotonic clock for SR programs, whose age() counts milliseconds. */
#include <time.h>

double monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}
