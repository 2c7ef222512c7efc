// in: 12 -7 +4 99999999999 1.5 -2e3
// in: x  word  next
// in: tail
// out: 12 -7 4 99999999999
// out: 1.5 -2000 0.333333 1e+10 1.23457e+08 1
// out: [x][word][next][10][t]
/* Read and Write. */
#include "test.h"

static void write_text(const char *text)
{
    orca_array1 string = string_of(text);
    orca_write_string(&string);
    orca_destroy(&orca_type_string, &string);
}

static void write_bracketed(const orca_array1 *string)
{
    orca_write_begin();
    orca_write_char('[');
    orca_write_string(string);
    orca_write_char(']');
    orca_write_end();
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        orca_write_integer(orca_read_integer(here));
        write_text(i < 3 ? " " : "");
    }
    orca_write_char('\n');
    const double numbers[] = {orca_read_real(here), orca_read_real(here), 1.0 / 3.0, 1e10,
                              123456789.0, 1.0};
    for (int i = 0; i < 6; i++) {
        orca_write_real(numbers[i]);
        write_text(i < 5 ? " " : "\n");
    }
    orca_array1 word;
    orca_init(&orca_type_string, &word);
    for (int i = 0; i < 3; i++) {
        orca_read_string(here, &word);
        write_bracketed(&word);
    }
    write_text("[");
    orca_write_integer(orca_read_char(here));
    write_text("][");
    orca_write_char(orca_read_char(here));
    write_text("]\n");
    FAILS("integer expected", "the next character is \"a\"", orca_read_integer(here));
    CHECK(error_kind == ORCA_IO_ERROR);
    orca_destroy(&orca_type_string, &word);
    orca_flush();
    return failures != 0;
}
