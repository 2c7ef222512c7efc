#include "ji.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static long size, workers, iterations;
/* Two grids of size + 2 rows and columns, the outermost of which never change. */
static double *grids[2];
static double *largest_change;

static double *row_of(int grid, long row)
{
    return grids[grid] + row * (size + 2);
}

static double sweep(int from, long first, long last)
{
    double largest = 0.0;
    for (long i = first; i <= last; i++) {
        const double *above = row_of(from, i - 1), *own = row_of(from, i), *below = row_of(from, i + 1);
        double *to = row_of(1 - from, i);
        for (long j = 1; j <= size; j++) {
            to[j] = (above[j] + below[j] + own[j - 1] + own[j + 1]) * 0.25;
            double change = fabs(to[j] - own[j]);
            if (change > largest)
                largest = change;
        }
    }
    return largest;
}

static void *worker(void *argument)
{
    long own = number_of(argument);
    long first = own * size / workers + 1, last = (own + 1) * size / workers;
    for (long i = 0; i < iterations; i++) {
        largest_change[own] = sweep((int)(i % 2), first, last);
        barrier(own);
    }
    return NULL;
}

static void prepare(void)
{
    long all = (size + 2) * (size + 2);
    grids[0] = calloc((size_t)all, sizeof(double));
    grids[1] = calloc((size_t)all, sizeof(double));
    largest_change = calloc((size_t)workers, sizeof(double));
    check(grids[0] == NULL || grids[1] == NULL || largest_change == NULL, "calloc");
    for (int grid = 0; grid < 2; grid++)
        for (long j = 0; j <= size + 1; j++)
            row_of(grid, 0)[j] = 1.0;
}

static void answer(void)
{
    double sum = 0.0, largest = 0.0;
    for (long i = 1; i <= size; i++)
        for (long j = 1; j <= size; j++)
            sum += row_of((int)(iterations % 2), i)[j];
    for (long i = 0; i < workers; i++)
        largest = fmax(largest, largest_change[i]);
    printf("sum %.6f change %.9f\n", sum, largest);
}

int run_jacobi(int argc, char **argv)
{
    size = argument(argc, argv, 1, "size", 1);
    workers = argument(argc, argv, 2, "number of workers", 1);
    iterations = argument(argc, argv, 3, "number of iterations", 0);
    prepare();
    barrier_init(workers);
    uint64_t began = now_ns();
    run_threads(workers, worker);
    account(began);
    answer();
    return 0;
}
