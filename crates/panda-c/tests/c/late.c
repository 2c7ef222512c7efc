/* Calls where a thread's own values are gone: in a destructor of a thread key, and in a handler of exit(). */
#include "check.h"
#include <pthread.h>

static pthread_key_t key;
static int destructions;

static void fails(void)
{
    IS(PANDA_BAD_ARGUMENT, panda_message_push(NULL, "a", 1));
}

/* Operations work as before, but their errors are not kept. */
static void fails_late(void)
{
    CHECK(panda_last_error()[0] == '\0');
    fails();
    CHECK(panda_last_error()[0] == '\0' && panda_last_rank() == PANDA_ANY);
    panda_message *message = text_message("late");
    CHECK(holds_text(message, "late"));
    panda_message_free(message);
}

static void destroys(void *unused)
{
    (void)unused;
    fails_late();
    destructions++;
}

static void exits(void)
{
    fails_late();
    puts("exited");
}

static void *fails_early(void *unused)
{
    CHECK(pthread_setspecific(key, &key) == 0);
    fails();
    SAYS("panda_message_push");
    return unused;
}

int main(void)
{
    pthread_t thread;
    CHECK(pthread_key_create(&key, destroys) == 0);
    CHECK(pthread_create(&thread, NULL, fails_early, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(destructions == 1);
    CHECK(atexit(exits) == 0);
    fails();
    SAYS("panda_message_push");
    return 0;
}
