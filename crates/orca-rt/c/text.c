/* Read and Write: numbers, characters and strings as text, on the standard streams or on files
 * that the unit InOut puts in their place. */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

static pthread_mutex_t input_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
/* The files of each machine: several may be threads of this process. Null for the standard
 * streams. */
enum { MOST_MACHINES = 64 };
static struct files {
    FILE *input, *output;
} files[MOST_MACHINES];
/* Whether a machine has had a file. */
static atomic_bool is_redirected;
/* Whether this thread is between orca_write_begin and orca_write_end. */
static _Thread_local bool is_writing;
/* The first error of output, or 0. */
static int output_error;

ORCA_WEAK int32_t orca_mycpu(void) { return 0; }

static struct files *own_files(void)
{
    const bool is_known = atomic_load_explicit(&is_redirected, memory_order_relaxed);
    return &files[is_known ? orca_mycpu() % MOST_MACHINES : 0];
}
static FILE *output(void)
{
    FILE *file = own_files()->output;
    return file ? file : stdout;
}

FILE *orca_output_begin(void)
{
    if (!is_writing)
        pthread_mutex_lock(&output_lock);
    return output();
}
static void note_error(void)
{
    if (!output_error)
        output_error = errno ? errno : EIO;
}
static ORCA_NORETURN void fail_output(void)
{
    orca_runtime_error(NULL, ORCA_SYSTEM_ERROR, "output is lost", strerror(output_error));
}
void orca_output_end(void)
{
    if (ORCA_UNLIKELY(ferror_unlocked(output()))) {
        note_error();
        fail_output();
    }
    if (!is_writing)
        pthread_mutex_unlock(&output_lock);
}
void orca_output_set(FILE *file)
{
    atomic_store(&is_redirected, true);
    struct files *own = own_files();
    int failed = own->output ? fclose(own->output) : fflush(stdout);
    own->output = file;
    if (failed) {
        note_error();
        fail_output();
    }
}

FILE *orca_input_begin(void)
{
    pthread_mutex_lock(&input_lock);
    FILE *file = own_files()->input;
    if (file)
        return file;
    /* A prompt must be visible before input is read. */
    if (isatty(STDIN_FILENO)) {
        fflush(orca_output_begin());
        orca_output_end();
    }
    return stdin;
}
void orca_input_end(void) { pthread_mutex_unlock(&input_lock); }
void orca_input_set(FILE *file)
{
    atomic_store(&is_redirected, true);
    struct files *own = own_files();
    if (own->input)
        fclose(own->input);
    own->input = file;
}

void orca_write_begin(void)
{
    orca_output_begin();
    is_writing = true;
}
void orca_write_end(void)
{
    is_writing = false;
    orca_output_end();
}

void orca_write_integer(int64_t value)
{
    fprintf(orca_output_begin(), "%lld", (long long)value);
    orca_output_end();
}
void orca_write_real(double value)
{
    fprintf(orca_output_begin(), "%g", value);
    orca_output_end();
}
void orca_write_char(orca_byte value)
{
    putc(value, orca_output_begin());
    orca_output_end();
}
void orca_write_string(const orca_array1 *string)
{
    FILE *to = orca_output_begin();
    if (string->data)
        fwrite(string->data, 1, string->dimension[0].count, to);
    orca_output_end();
}

/* An error may come while this or another thread writes, so this does not wait for the lock. */
const char *orca_flush(void)
{
    bool is_locked = !is_writing && pthread_mutex_trylock(&output_lock) == 0;
    for (int i = 0; i < MOST_MACHINES; i++)
        if (files[i].output && fflush(files[i].output))
            note_error();
    if (fflush(stdout))
        note_error();
    if (is_locked)
        pthread_mutex_unlock(&output_lock);
    return output_error ? strerror(output_error) : NULL;
}

/* ---- reading ------------------------------------------------------------------------------ */

static ORCA_NORETURN void expected(orca_at at, const char *text, int next)
{
    if (next == EOF)
        orca_runtime_error(at, ORCA_IO_ERROR, text, "the input has ended");
    if (isprint(next))
        orca_fail(at, ORCA_IO_ERROR, text, "the next character is \"%c\"", next);
    orca_fail(at, ORCA_IO_ERROR, text, "the next character is number %d", next);
}

/* Returns the first character that is not a blank. */
static int skip_blanks(FILE *from)
{
    int c = getc(from);
    while (c != EOF && isspace(c))
        c = getc(from);
    return c;
}

int64_t orca_scan_integer(orca_at at, FILE *from)
{
    int c = skip_blanks(from);
    bool is_negative = c == '-';
    if (c == '-' || c == '+')
        c = getc(from);
    if (c == EOF || !isdigit(c))
        expected(at, "integer expected", c);
    uint64_t value = 0; /* It wraps, as arithmetic does. */
    for (; c != EOF && isdigit(c); c = getc(from))
        value = 10 * value + (uint64_t)(c - '0');
    ungetc(c, from);
    return (int64_t)(is_negative ? 0 - value : value);
}

double orca_scan_real(orca_at at, FILE *from)
{
    int c = skip_blanks(from);
    ungetc(c, from);
    double value;
    if (fscanf(from, "%lf", &value) != 1)
        expected(at, "real expected", c);
    return value;
}

orca_byte orca_scan_char(orca_at at, FILE *from)
{
    int c = getc(from);
    if (c == EOF)
        expected(at, "character expected", c);
    return (orca_byte)c;
}

void orca_scan_string(orca_at at, FILE *from, orca_array1 *string)
{
    int c = skip_blanks(from);
    if (c == EOF)
        expected(at, "string expected", c);
    struct orca_writer word = {NULL, 0, 0};
    for (; c != EOF && !isspace(c); c = getc(from)) {
        uint8_t byte = (uint8_t)c;
        orca_put_bytes(&word, &byte, 1);
    }
    ungetc(c, from);
    orca_string_set(string, (const char *)word.bytes, word.length);
    free(word.bytes);
}

int64_t orca_read_integer(orca_at at)
{
    int64_t value = orca_scan_integer(at, orca_input_begin());
    orca_input_end();
    return value;
}
double orca_read_real(orca_at at)
{
    double value = orca_scan_real(at, orca_input_begin());
    orca_input_end();
    return value;
}
orca_byte orca_read_char(orca_at at)
{
    orca_byte value = orca_scan_char(at, orca_input_begin());
    orca_input_end();
    return value;
}
void orca_read_string(orca_at at, orca_array1 *string)
{
    orca_scan_string(at, orca_input_begin(), string);
    orca_input_end();
}
