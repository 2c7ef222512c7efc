/* Readers and writers by three semaphores that pass the baton: who leaves says who enters next, and lets a waiting writer go before
   new readers. */
#include "rw.h"

#include <semaphore.h>

static sem_t baton, may_read, may_write;
static long reading, writing, readers_wait, writers_wait;

/* Gives the baton to a waiting process that may enter, or back. */
static void pass(void)
{
    if (writing == 0 && writers_wait == 0 && readers_wait > 0) {
        readers_wait--;
        sem_post(&may_read);
    } else if (writing == 0 && reading == 0 && writers_wait > 0) {
        writers_wait--;
        sem_post(&may_write);
    } else {
        sem_post(&baton);
    }
}

void read_enter(void)
{
    sem_wait(&baton);
    if (writing > 0 || writers_wait > 0) {
        readers_wait++;
        sem_post(&baton);
        sem_wait(&may_read);
    }
    reading++;
    pass();
}

void read_leave(void)
{
    sem_wait(&baton);
    reading--;
    pass();
}

void write_enter(void)
{
    sem_wait(&baton);
    if (reading > 0 || writing > 0) {
        writers_wait++;
        sem_post(&baton);
        sem_wait(&may_write);
    }
    writing++;
    pass();
}

void write_leave(void)
{
    sem_wait(&baton);
    writing--;
    /* Readers that waited for this writer go before the next one: neither kind starves. */
    if (readers_wait > 0) {
        readers_wait--;
        sem_post(&may_read);
    } else {
        pass();
    }
}

int main(int argc, char **argv)
{
    check(sem_init(&baton, 0, 1), "sem_init");
    check(sem_init(&may_read, 0, 0), "sem_init");
    check(sem_init(&may_write, 0, 0), "sem_init");
    return run_readers_and_writers(argc, argv);
}
