/* Protocol lines. Standard output has a large buffer, and only a closing line empties it. */
#include "internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* An answer's line is at most 65536 bytes; a reading or difference takes 21 at most. */
enum { READINGS_A_LINE = 3000 };

static char output[1 << 16]; /* ours: stdio would take it from malloc, which may be exhausted */

void answer_start(void)
{
    setvbuf(stdout, output, _IOFBF, sizeof output);
}

/* Where nobody reads any more there is nothing left to do. */
static void flush(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        _Exit(1);
}

void answer_value(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c <= ' ' || *c == '%' || *c == '=')
            printf("%%%02X", *c);
        else
            putchar(*c);
    }
}

void answer_readings(const uint64_t *reading, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i % READINGS_A_LINE == 0)
            printf("%s@@ readings %" PRIu64, i ? "\n" : "", reading[i]);
        else
            printf(" %" PRId64, (int64_t)(reading[i] - reading[i - 1]));
    }
    putchar('\n');
}

void answer_ok(void)
{
    fputs("@@ ok\n", stdout);
    flush();
}

/* The text may echo a request, so whatever is not plain ASCII is written as %XX: an answer is always UTF-8. */
void answer_error(const char *code, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    printf("@@ error %s ", code);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < ' ' || *c > '~')
            printf("%%%02X", *c);
        else
            putchar(*c);
    }
    putchar('\n');
    flush();
}
