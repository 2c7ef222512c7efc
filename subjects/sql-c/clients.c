/* Several connections at once, each with a thread of its own: an operation is a query of ten rows by each of them. The threads
 * wait at a barrier before a slice and at another after it; the control is the same without queries. */
#include "tests.h"

#include <stdio.h>
#include <string.h>

#define CLIENTS_MOST 16
#define CLIENT_ROWS 10

struct client {
    pthread_t thread;
    struct connection *connection;
    uint64_t sum;
    char wrong[256];
};

static struct client clients_now[CLIENTS_MOST];
static unsigned connected, started;
static pthread_barrier_t begin, end;
static char text[128];

/* The order of the slice; written by the main thread before the first barrier. */
static uint64_t order_iterations;
static bool order_query, order_quit;

static void serve(struct client *client)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < order_iterations; i = kit_increment(i)) {
        kit_thread_takes_part("client");
        if (!order_query)
            sum += i;
        else if (!sql_query(client->connection, text, CLIENT_ROWS, &sum)) {
            snprintf(client->wrong, sizeof client->wrong, "%s", sql_error(client->connection));
            break;
        }
    }
    client->sum = sum;
}

static void *body(void *context)
{
    for (;;) {
        pthread_barrier_wait(&begin);
        if (order_quit)
            return NULL;
        serve(context);
        pthread_barrier_wait(&end);
    }
}

static uint64_t go(uint64_t iterations, bool query)
{
    order_iterations = iterations;
    order_query = query;
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    uint64_t sum = 0;
    for (unsigned i = 0; i < started; i++) {
        if (clients_now[i].wrong[0])
            kit_fail("%s", clients_now[i].wrong);
        sum += clients_now[i].sum;
    }
    return sum;
}

static uint64_t frame_control(uint64_t iterations)
{
    return go(iterations, false);
}

static uint64_t frame_queries(uint64_t iterations)
{
    return go(iterations, true);
}

/* Connections come first: once a thread waits at the barrier, all others must come, too. */
static void prepare(unsigned many)
{
    prepare_database();
    snprintf(text, sizeof text, "SELECT * FROM %s LIMIT %d", rows_table, CLIENT_ROWS);
    memset(clients_now, 0, sizeof clients_now);
    connected = started = 0;
    order_quit = false;
    while (connected < many) {
        struct connection *connection = sql_connect();
        if (!connection)
            kit_fail("connection %u of %u: %s", connected + 1, many, sql_error(NULL));
        clients_now[connected++].connection = connection;
    }
    pthread_barrier_init(&begin, NULL, many + 1);
    pthread_barrier_init(&end, NULL, many + 1);
    while (started < many) {
        kit_start_partner(&clients_now[started].thread, body, &clients_now[started]);
        started++;
    }
}

static void finish(void)
{
    if (connected > 0 && started == connected) {
        order_quit = true;
        pthread_barrier_wait(&begin);
        for (unsigned i = 0; i < started; i++)
            pthread_join(clients_now[i].thread, NULL);
        pthread_barrier_destroy(&begin);
        pthread_barrier_destroy(&end);
    }
    /* Threads that wait for others which could not be started keep their connections to the process's end. */
    for (unsigned i = started == connected ? 0 : started; i < connected; i++)
        if (!sql_close(clients_now[i].connection))
            fprintf(stderr, "a connection stays open: %s\n", sql_error(clients_now[i].connection));
    connected = started = 0;
}

#define CLIENTS(count)                             \
    static void prepare_##count(uint64_t argument) \
    {                                              \
        (void)argument;                            \
        prepare(count);                            \
    }
CLIENTS(1)
CLIENTS(2)
CLIENTS(4)
CLIENTS(8)
CLIENTS(16)
#define CLIENTS_TEST(count)                                                                                          \
    {                                                                                                                \
        .name = "concurrent." #count, .control = frame_control, .test = frame_queries, .prepare = prepare_##count,   \
        .finish = finish, .threads = count + 1, .work = "sql.concurrent." #count                                     \
    }

const struct kit_test clients[] = {
    CLIENTS_TEST(1), CLIENTS_TEST(2), CLIENTS_TEST(4), CLIENTS_TEST(8), CLIENTS_TEST(16), {.name = NULL},
};
