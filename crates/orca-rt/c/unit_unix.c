/* The unit unix: files by their descriptors. Where a call fails, it returns -1. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"
#include "units.h"

int32_t f_unix__open(const orca_array1 *name, int32_t mode)
{
    char *path = orca_string_to_c(name);
    int fd = open(path, mode, 0666);
    orca_free(path);
    return fd;
}
int32_t f_unix__creat(const orca_array1 *name, int32_t mode)
{
    char *path = orca_string_to_c(name);
    int fd = creat(path, (mode_t)mode);
    orca_free(path);
    return fd;
}

/* Reads at most `count` bytes. The buffer is resized to the number of bytes read. */
int32_t f_unix__read(int32_t fd, orca_array1 *buffer, int32_t count)
{
    size_t room = count > 0 ? (size_t)count : 0;
    char *bytes = orca_allocate(orca_here, room, 1);
    ssize_t got = read(fd, bytes, room);
    orca_string_set(buffer, bytes, got > 0 ? (size_t)got : 0);
    orca_free(bytes);
    return (int32_t)got;
}

static int32_t write_bytes(int fd, const char *bytes, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t now = write(fd, bytes + done, length - done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return -1;
        done += (size_t)now;
    }
    return (int32_t)done;
}

int32_t f_unix__write(int32_t fd, const orca_array1 *buffer, int32_t count)
{
    size_t there = buffer->dimension[0].count, length = count > 0 ? (size_t)count : 0;
    return write_bytes(fd, buffer->data, length < there ? length : there);
}
int32_t f_unix__close(int32_t fd) { return close(fd); }
int32_t f_unix__lseek(int32_t fd, int32_t offset, int32_t whence)
{
    return (int32_t)lseek(fd, offset, whence);
}
int32_t f_unix__link(const orca_array1 *from, const orca_array1 *to)
{
    char *old = orca_string_to_c(from), *new = orca_string_to_c(to);
    int outcome = link(old, new);
    orca_free(old);
    orca_free(new);
    return outcome;
}
int32_t f_unix__unlink(const orca_array1 *name)
{
    char *path = orca_string_to_c(name);
    int outcome = unlink(path);
    orca_free(path);
    return outcome;
}
int32_t f_unix__getpid(void) { return getpid(); }
int32_t f_unix__getuid(void) { return (int32_t)getuid(); }
int32_t f_unix__geteuid(void) { return (int32_t)geteuid(); }
int32_t f_unix__getgid(void) { return (int32_t)getgid(); }
int32_t f_unix__getegid(void) { return (int32_t)getegid(); }

static void write_text(int fd, const char *bytes, size_t length)
{
    if (write_bytes(fd, bytes, length) < 0)
        orca_fail(orca_here, ORCA_IO_ERROR, "unknown error", "descriptor %d cannot be written", fd);
}

void f_unix__WriteChar(int32_t fd, orca_byte x) { write_text(fd, (const char *)&x, 1); }
void f_unix__WriteInt(int32_t fd, int32_t x)
{
    char text[16];
    write_text(fd, text, (size_t)snprintf(text, sizeof text, "%d", (int)x));
}
void f_unix__WriteReal(int32_t fd, double x)
{
    char text[40];
    write_text(fd, text, (size_t)snprintf(text, sizeof text, "%g", x));
}
void f_unix__WriteLn(int32_t fd) { write_text(fd, "\n", 1); }
void f_unix__WriteSpaces(int32_t fd, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        write_text(fd, " ", 1);
}
void f_unix__WriteString(int32_t fd, const orca_array1 *x)
{
    write_text(fd, x->data, x->dimension[0].count);
}

/* Reads one byte. The end of the file is a character 0. */
orca_byte f_unix__ReadChar(int32_t fd)
{
    orca_byte c = 0;
    while (read(fd, &c, 1) < 0 && errno == EINTR)
        continue;
    return c;
}

static bool is_blank(orca_byte c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/* Reads a word, with the blank behind it. */
void f_unix__ReadString(int32_t fd, orca_array1 *result)
{
    struct orca_writer word = {NULL, 0, 0};
    orca_byte c = f_unix__ReadChar(fd);
    while (is_blank(c))
        c = f_unix__ReadChar(fd);
    for (; c && !is_blank(c); c = f_unix__ReadChar(fd))
        orca_put_bytes(&word, &c, 1);
    orca_string_set(result, (const char *)word.bytes, word.length);
    orca_free(word.bytes);
}

/* Returns a word that ends in a zero, for strtol and strtod. */
static char *read_word(int fd)
{
    orca_array1 word = {0};
    f_unix__ReadString(fd, &word);
    char *text = orca_string_to_c(&word);
    orca_destroy(&orca_type_string, &word);
    return text;
}

int32_t f_unix__ReadInt(int32_t fd)
{
    char *word = read_word(fd), *end;
    long value = strtol(word, &end, 10);
    if (end == word)
        orca_fail(orca_here, ORCA_IO_ERROR, "integer expected", "descriptor %d has \"%.40s\"", fd,
                  word);
    orca_free(word);
    return (int32_t)value;
}
double f_unix__ReadReal(int32_t fd)
{
    char *word = read_word(fd), *end;
    double value = strtod(word, &end);
    if (end == word)
        orca_fail(orca_here, ORCA_IO_ERROR, "real expected", "descriptor %d has \"%.40s\"", fd,
                  word);
    orca_free(word);
    return value;
}
