/* The unit InOut. Read and Write follow its redirections. */
#include <stdlib.h>

#include "internal.h"
#include "units.h"

void f_InOut__WriteChar(orca_byte x) { orca_write_char(x); }
void f_InOut__WriteInt(int32_t x) { orca_write_integer(x); }
void f_InOut__WriteLongInt(int64_t x) { orca_write_integer(x); }
void f_InOut__WriteShortInt(int32_t x) { orca_write_integer((int16_t)x); }
void f_InOut__WriteReal(double x) { orca_write_real(x); }
void f_InOut__WriteLongReal(double x) { orca_write_real(x); }
void f_InOut__WriteString(const orca_array1 *x) { orca_write_string(x); }
void f_InOut__WriteLn(void) { orca_write_char('\n'); }

void f_InOut__ReadChar(orca_byte *x) { *x = orca_read_char(orca_here); }
void f_InOut__ReadInt(int32_t *x) { *x = (int32_t)orca_read_integer(orca_here); }
void f_InOut__ReadLongInt(int64_t *x) { *x = orca_read_integer(orca_here); }
void f_InOut__ReadShortInt(int16_t *x) { *x = (int16_t)orca_read_integer(orca_here); }
void f_InOut__ReadReal(double *x) { *x = orca_read_real(orca_here); }
void f_InOut__ReadLongReal(double *x) { *x = orca_read_real(orca_here); }
void f_InOut__ReadShortReal(float *x) { *x = (float)orca_read_real(orca_here); }
void f_InOut__ReadString(orca_array1 *x) { orca_read_string(orca_here, x); }

/* Returns the next character without taking it, or EOF. */
static int peek(void)
{
    FILE *from = orca_input_begin();
    int c = getc(from);
    ungetc(c, from);
    orca_input_end();
    return c;
}

orca_byte f_InOut__Ahead(void)
{
    int c = peek();
    return c == EOF ? 0 : (orca_byte)c;
}
orca_byte f_InOut__Eof(void) { return peek() == EOF; }
orca_byte f_InOut__Eoln(void)
{
    int c = peek();
    return c == EOF || c == '\n';
}

static FILE *open_file(const orca_array1 *name, const char *mode)
{
    char *path = orca_string_to_c(name);
    FILE *file = fopen(path, mode);
    orca_free(path);
    return file;
}

static orca_byte open_output(const orca_array1 *name, const char *mode)
{
    FILE *file = open_file(name, mode);
    if (!file)
        return false;
    orca_output_begin();
    orca_output_set(file);
    orca_output_end();
    return true;
}

orca_byte f_InOut__OpenInputFile(const orca_array1 *name)
{
    FILE *file = open_file(name, "r");
    if (!file)
        return false;
    orca_input_begin();
    orca_input_set(file);
    orca_input_end();
    return true;
}
orca_byte f_InOut__OpenOutputFile(const orca_array1 *name) { return open_output(name, "w"); }
orca_byte f_InOut__AppendOutputFile(const orca_array1 *name) { return open_output(name, "a"); }

void f_InOut__CloseInput(void)
{
    orca_input_begin();
    orca_input_set(NULL);
    orca_input_end();
}
void f_InOut__CloseOutput(void)
{
    orca_output_begin();
    orca_output_set(NULL);
    orca_output_end();
}

/* TYPE BufferingKind = (IOFBF, IOLBF, IONBF) */
void f_InOut__SetBuffering(orca_byte kind)
{
    static const int modes[] = {_IOFBF, _IOLBF, _IONBF};
    FILE *to = orca_output_begin();
    fflush(to);
    if (kind < sizeof modes / sizeof *modes)
        setvbuf(to, NULL, modes[kind], BUFSIZ);
    orca_output_end();
}
void f_InOut__Flush(void)
{
    fflush(orca_output_begin());
    orca_output_end();
}
