/* Reading request lines and taking them apart. */
#include "internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static char buffer[8192];
static size_t buffered, taken;

/* The next byte of standard input; -1 at its end. Our own buffer, since a signal may interrupt the system call. */
static int next_byte(void)
{
    while (taken == buffered) {
        ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        buffered = (size_t)got;
        taken = 0;
    }
    return (unsigned char)buffer[taken++];
}

enum line read_line(char line[KIT_LINE_BYTES + 1], size_t *length)
{
    size_t used = 0;
    int byte;
    while ((byte = next_byte()) != '\n') {
        if (byte < 0)
            return LINE_END; /* half a line is no request */
        if (used < KIT_LINE_BYTES)
            line[used] = (char)byte;
        if (used <= KIT_LINE_BYTES)
            used++;
    }
    if (used > KIT_LINE_BYTES)
        return LINE_TOO_LONG;
    line[used] = '\0';
    *length = used;
    return LINE_READ;
}

static bool add_field(struct request *request, char *word, char *equals)
{
    if (request->fields == KIT_FIELDS_MOST) {
        answer_error("bad-argument", "more than %d fields", KIT_FIELDS_MOST);
        return false;
    }
    *equals = '\0';
    if (find_field(request, word)) {
        answer_error("bad-argument", "%s is given twice", word);
        return false;
    }
    request->field[request->fields++] = (struct field){.key = word, .value = equals + 1};
    return true;
}

static bool add_word(struct request *request, char *word)
{
    char *equals = strchr(word, '=');
    if (equals)
        return add_field(request, word, equals);
    if (request->fields > 0) {
        answer_error("bad-argument", "'%s' stands after a key=value field: positional words come first", word);
        return false;
    }
    if (request->words == KIT_WORDS_MOST) {
        answer_error("bad-argument", "more than %d words", KIT_WORDS_MOST);
        return false;
    }
    request->word[request->words++] = word;
    return true;
}

bool parse_request(struct request *request, char *line, size_t length)
{
    *request = (struct request){.words = 0};
    if (memchr(line, '\0', length)) {
        answer_error("bad-argument", "the request holds a zero byte");
        return false;
    }
    if (length == 0) {
        answer_error("unknown-request", "the line is empty; write one of hello, list, clock, gaps, placement, batch, "
                                        "slice, latency, series, usage, quit");
        return false;
    }
    for (char *word = line; word;) {
        char *space = strchr(word, ' ');
        if (space)
            *space = '\0';
        if (*word == '\0') {
            answer_error("bad-argument", "words are separated by single spaces");
            return false;
        }
        if (!add_word(request, word))
            return false;
        word = space ? space + 1 : NULL;
    }
    if (request->words == 0) {
        answer_error("unknown-request", "the line begins with a field; it must begin with a verb");
        return false;
    }
    return true;
}

const char *find_field(const struct request *request, const char *key)
{
    for (size_t i = 0; i < request->fields; i++)
        if (strcmp(request->field[i].key, key) == 0)
            return request->field[i].value;
    return NULL;
}

/* Decimal digits only: strtoull would take signs, spaces and hexadecimal. */
static bool parse_digits(const char *text, uint64_t *number)
{
    uint64_t value = 0;
    if (*text == '\0')
        return false;
    for (; *text; text++) {
        unsigned digit = (unsigned)(*text - '0');
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return true;
}

bool parse_number(const char *what, const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    if (parse_digits(text, number) && *number >= least && *number <= most)
        return true;
    answer_error("bad-argument", "%s must be a decimal integer from %llu to %llu, not '%s'", what,
                 (unsigned long long)least, (unsigned long long)most, text);
    return false;
}

bool number_field(const struct request *request, const char *key, uint64_t least, uint64_t most, uint64_t *number)
{
    const char *text = find_field(request, key);
    if (!text) {
        answer_error("bad-argument", "%s= is missing", key);
        return false;
    }
    return parse_number(key, text, least, most, number);
}

bool has_words(const struct request *request, size_t words, const char *usage)
{
    if (request->words == words)
        return true;
    answer_error("bad-argument", "write: %s", usage);
    return false;
}
