/* Common parts of the tests: a check that fails ends the process, and prints its place. */
#ifndef CHECK_H
#define CHECK_H

#include <panda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds) ((holds) ? (void)0 : check_failed(__FILE__, __LINE__, #holds))
#define IS(expected, call) check_status(__FILE__, __LINE__, #call, expected, call)
#define OK(call) IS(PANDA_OK, call)
/* The text of the last error contains this. */
#define SAYS(part) CHECK(strstr(panda_last_error(), part) != NULL)

static inline void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s does not hold; last error: %s\n", file, line, what, panda_last_error());
    fflush(stderr);
    _Exit(1);
}

static inline void check_status(const char *file, int line, const char *call, panda_status expected, panda_status status)
{
    if (status == expected)
        return;
    fprintf(stderr, "%s:%d: %s gave %s, not %s: %s\n", file, line, call, panda_status_name(status), panda_status_name(expected),
            panda_last_error());
    fflush(stderr);
    _Exit(1);
}

static inline panda_message *text_message(const char *text)
{
    return panda_message_of(text, strlen(text));
}

static inline panda_message *number_message(uint32_t number)
{
    return panda_message_of(&number, sizeof number);
}

/* Returns the number in a message, and frees the message. */
static inline uint32_t number_of(panda_message *message)
{
    uint32_t number = 0;
    CHECK(panda_message_length(message) == sizeof number);
    OK(panda_message_pop(message, &number, sizeof number));
    panda_message_free(message);
    return number;
}

static inline int holds_text(panda_message *message, const char *text)
{
    size_t length = strlen(text);
    return panda_message_length(message) == length && memcmp(panda_message_flatten(message), text, length) == 0;
}

#endif
