// in: 7 x
// in: word 1.5
// out: 65 z 3 -1
// out: ok
// args: first second
/* The standard units that are written in C. */
#include <fcntl.h>
#include <unistd.h>

#include "test.h"
#include "internal.h"
#include "units.h"

static bool is(orca_array1 *string, const char *text)
{
    char *c = orca_string_to_c(string);
    bool is_same = !strcmp(c, text);
    orca_free(c);
    return is_same;
}

static void conversions(void)
{
    orca_array1 s = string_of("  42abc"), none = string_of("abc"), r = string_of("old");
    int32_t eaten;
    CHECK(f_conversions__StringToInt(&s, &eaten) == 42 && eaten == 4);
    CHECK(f_conversions__StringToInt(&none, &eaten) == 0 && eaten == 0);
    CHECK(f_conversions__StringToReal(&s, &eaten) == 42.0 && eaten == 4);
    f_conversions__IntToString(INT64_MIN, &r);
    CHECK(is(&r, "-9223372036854775808") && ORCA_LB(&r, 0) == 1 && ORCA_UB(&r, 0) == 20);
    f_conversions__RealToString(3.14159, 3, &r);
    CHECK(is(&r, "3.14"));
    f_conversions__RealToString(0.1, -5, &r);
    CHECK(is(&r, "0.1"));
    f_conversions__RealToString(1.0 / 3.0, 1000, &r);
    CHECK(ORCA_UB(&r, 0) > 20);
    orca_destroy(&orca_type_string, &s);
    orca_destroy(&orca_type_string, &none);
    orca_destroy(&orca_type_string, &r);
}

static void arguments(void)
{
    orca_array1 r = {0}, name = string_of("ANTIPHON_ORCA_TEST");
    CHECK(f_args__Argc() == 3);
    f_args__Argv(2, &r);
    CHECK(is(&r, "second"));
    f_args__Argv(99, &r);
    CHECK(is(&r, ""));
    f_args__Argv(-1, &r);
    CHECK(is(&r, ""));
    f_args__Getenv(&name, &r);
    CHECK(is(&r, "a value"));
    f_args__Getenv(&r, &r);
    CHECK(is(&r, ""));
    orca_destroy(&orca_type_string, &r);
    orca_destroy(&orca_type_string, &name);
}

static void output_goes_to_a_file_and_back(void)
{
    orca_array1 path = string_of("orca-inout.txt"), none = string_of("no/such/file");
    orca_array1 word = {0};
    int32_t number;
    orca_byte c;
    CHECK(!f_InOut__OpenInputFile(&none) && !f_InOut__OpenOutputFile(&none));
    CHECK(f_InOut__OpenOutputFile(&path));
    f_InOut__WriteInt(12);
    f_InOut__WriteLn();
    f_InOut__CloseOutput();
    CHECK(f_InOut__AppendOutputFile(&path));
    f_InOut__WriteString(&path);
    f_InOut__CloseOutput();
    f_InOut__ReadInt(&number);
    CHECK(number == 7);
    CHECK(f_InOut__OpenInputFile(&path));
    f_InOut__ReadInt(&number);
    CHECK(number == 12 && f_InOut__Eoln() && !f_InOut__Eof());
    f_InOut__ReadChar(&c);
    CHECK(c == '\n' && f_InOut__Ahead() == 'o');
    f_InOut__ReadString(&word);
    CHECK(is(&word, "orca-inout.txt") && f_InOut__Eof() && f_InOut__Ahead() == 0);
    orca_here = here;
    FAILS("character expected", "the input has ended", f_InOut__ReadChar(&c));
    /* The error left Read, which still holds the lock of a program that has ended. */
    orca_input_end();
    f_InOut__CloseInput();
    f_InOut__ReadString(&word);
    CHECK(is(&word, "x"));
    CHECK(f_unix__unlink(&path) == 0 && f_unix__unlink(&path) == -1);
    orca_destroy(&orca_type_string, &path);
    orca_destroy(&orca_type_string, &none);
    orca_destroy(&orca_type_string, &word);
}

static void descriptors(void)
{
    orca_array1 path = string_of("orca-unix.txt"), text = string_of("hello 5 2.5 end");
    orca_array1 buffer = {0};
    int32_t fd = f_unix__creat(&path, 0644);
    CHECK(f_unix__write(fd, &text, 99) == 15);
    f_unix__WriteSpaces(fd, 2);
    f_unix__WriteInt(fd, -8);
    f_unix__WriteLn(fd);
    CHECK(f_unix__close(fd) == 0 && f_unix__close(fd) == -1);
    fd = f_unix__open(&path, O_RDONLY);
    CHECK(f_unix__read(fd, &buffer, 5) == 5 && is(&buffer, "hello"));
    CHECK(f_unix__ReadInt(fd) == 5 && f_unix__ReadReal(fd) == 2.5);
    f_unix__ReadString(fd, &buffer);
    CHECK(is(&buffer, "end") && f_unix__ReadInt(fd) == -8);
    CHECK(f_unix__lseek(fd, 1, SEEK_SET) == 1 && f_unix__ReadChar(fd) == 'e');
    CHECK(f_unix__lseek(fd, 0, SEEK_END) == 20 && f_unix__ReadChar(fd) == 0);
    CHECK(f_unix__read(-1, &buffer, 5) == -1 && f_unix__read(fd, &buffer, -5) == 0);
    f_unix__close(fd);
    f_unix__unlink(&path);
    CHECK(f_unix__open(&path, O_RDONLY) == -1);
    orca_destroy(&orca_type_string, &path);
    orca_destroy(&orca_type_string, &text);
    orca_destroy(&orca_type_string, &buffer);
}

static void mathematics(void)
{
    int32_t exponent;
    double whole;
    CHECK(f_Math__sqrt(4) == 2 && f_Math__pow(2, 10) == 1024 && f_Math__atan2(0, 1) == 0);
    CHECK(f_Math__frexp(8, &exponent) == 0.5 && exponent == 4);
    CHECK(f_Math__modf(2.25, &whole) == 0.25 && whole == 2);
    CHECK(f_Math__LongRealToInt(-2.7) == -2 && f_Math__LongRealMin(1, 2) == 1);
    CHECK(f_Math__LeftShift(1, 33) == 2 && f_Math__BitwiseXor(6, 3) == 5);
}

static void clocks(void)
{
    int32_t before = f_Time__SysMilli();
    double micro = f_Time__SysMicro();
    f_Time__Sleep(0, 2000000);
    f_Time__Sleep(-1, 0);
    CHECK(f_Time__SysMilli() >= before + 1 && f_Time__SysMicro() >= micro + 2000);
    CHECK(f_Time__GetTime() >= before / 100);
    CHECK(f_trace__set_level(3) == 0 && f_trace__set_level(0) == 3);
}

int main(int argc, char **argv)
{
    orca_argc = argc;
    orca_argv = argv;
    f_InOut__WriteInt('A');
    f_InOut__WriteChar(' ');
    f_InOut__WriteChar('z');
    f_InOut__SetBuffering(2);
    f_InOut__WriteChar(' ');
    f_InOut__WriteReal(3);
    f_InOut__WriteChar(' ');
    f_InOut__WriteShortInt(65535);
    f_InOut__WriteLn();
    conversions();
    arguments();
    output_goes_to_a_file_and_back();
    descriptors();
    mathematics();
    clocks();
    orca_array1 text = string_of("ok\n");
    f_InOut__WriteString(&text);
    orca_destroy(&orca_type_string, &text);
    if (failures)
        return 1;
    f_Finish__Finish();
}
