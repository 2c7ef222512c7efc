/* The standard units that are written in C. A function `name` of the unit `Unit` is
 * `f_Unit__name`; a structured result is the last argument, a variable that has a value. */
#ifndef ANTIPHON_ORCA_UNITS_H
#define ANTIPHON_ORCA_UNITS_H

#include "orca_values.h"

void f_InOut__WriteChar(orca_byte);
void f_InOut__WriteInt(int32_t);
void f_InOut__WriteLongInt(int64_t);
void f_InOut__WriteShortInt(int32_t);
void f_InOut__WriteReal(double);
void f_InOut__WriteLongReal(double);
void f_InOut__WriteString(const orca_array1 *);
void f_InOut__WriteLn(void);
void f_InOut__ReadChar(orca_byte *);
void f_InOut__ReadInt(int32_t *);
void f_InOut__ReadLongInt(int64_t *);
void f_InOut__ReadShortInt(int16_t *);
void f_InOut__ReadReal(double *);
void f_InOut__ReadLongReal(double *);
void f_InOut__ReadShortReal(float *);
void f_InOut__ReadString(orca_array1 *);
orca_byte f_InOut__Ahead(void);
orca_byte f_InOut__Eof(void);
orca_byte f_InOut__Eoln(void);
orca_byte f_InOut__OpenInputFile(const orca_array1 *name);
orca_byte f_InOut__OpenOutputFile(const orca_array1 *name);
orca_byte f_InOut__AppendOutputFile(const orca_array1 *name);
void f_InOut__CloseInput(void);
void f_InOut__CloseOutput(void);
void f_InOut__SetBuffering(orca_byte kind);
void f_InOut__Flush(void);

int64_t f_conversions__StringToInt(const orca_array1 *, int32_t *eaten);
double f_conversions__StringToReal(const orca_array1 *, int32_t *eaten);
void f_conversions__IntToString(int64_t, orca_array1 *result);
void f_conversions__RealToString(double, int32_t precision, orca_array1 *result);

int32_t f_args__Argc(void);
void f_args__Argv(int32_t, orca_array1 *result);
void f_args__Getenv(const orca_array1 *name, orca_array1 *result);

int32_t f_Time__GetTime(void);
int32_t f_Time__SysMilli(void);
double f_Time__SysMicro(void);
void f_Time__Sleep(int32_t seconds, int32_t nanoseconds);
void f_Time__PrintTime(const orca_array1 *name, int32_t milliseconds);
void f_Time__PrintCompilationInfo(void);

void f_Finish__Finish(void);

void f_RtsStats__reset_stats(void);
void f_RtsStats__print_stats(void);
int32_t f_trace__set_level(int32_t);
void f_trace__record(int32_t level, const orca_array1 *name);
void f_trace__flush(void);

double f_Math__sin(double);
double f_Math__cos(double);
double f_Math__tan(double);
double f_Math__asin(double);
double f_Math__acos(double);
double f_Math__atan(double);
double f_Math__atan2(double y, double x);
double f_Math__sinh(double);
double f_Math__cosh(double);
double f_Math__tanh(double);
double f_Math__exp(double);
double f_Math__log(double);
double f_Math__log10(double);
double f_Math__pow(double, double);
double f_Math__sqrt(double);
double f_Math__ceil(double);
double f_Math__floor(double);
double f_Math__fabs(double);
double f_Math__ldexp(double, int32_t);
double f_Math__frexp(double, int32_t *);
double f_Math__modf(double, double *whole);
double f_Math__fmod(double, double);
double f_Math__IntToLongReal(int32_t);
int32_t f_Math__LongRealToInt(double);
double f_Math__LongRealMin(double, double);
double f_Math__LongRealMax(double, double);
int32_t f_Math__LeftShift(int32_t, int32_t by);
int32_t f_Math__RightShift(int32_t, int32_t by);
int32_t f_Math__BitwiseAnd(int32_t, int32_t);
int32_t f_Math__BitwiseOr(int32_t, int32_t);
int32_t f_Math__BitwiseXor(int32_t, int32_t);

int32_t f_unix__open(const orca_array1 *name, int32_t mode);
int32_t f_unix__creat(const orca_array1 *name, int32_t mode);
int32_t f_unix__read(int32_t fd, orca_array1 *buffer, int32_t count);
int32_t f_unix__write(int32_t fd, const orca_array1 *buffer, int32_t count);
int32_t f_unix__close(int32_t fd);
int32_t f_unix__lseek(int32_t fd, int32_t offset, int32_t whence);
int32_t f_unix__link(const orca_array1 *from, const orca_array1 *to);
int32_t f_unix__unlink(const orca_array1 *name);
int32_t f_unix__getpid(void);
int32_t f_unix__getuid(void);
int32_t f_unix__geteuid(void);
int32_t f_unix__getgid(void);
int32_t f_unix__getegid(void);
void f_unix__WriteChar(int32_t fd, orca_byte);
void f_unix__WriteInt(int32_t fd, int32_t);
void f_unix__WriteReal(int32_t fd, double);
void f_unix__WriteLn(int32_t fd);
void f_unix__WriteSpaces(int32_t fd, int32_t count);
void f_unix__WriteString(int32_t fd, const orca_array1 *);
orca_byte f_unix__ReadChar(int32_t fd);
int32_t f_unix__ReadInt(int32_t fd);
double f_unix__ReadReal(int32_t fd);
void f_unix__ReadString(int32_t fd, orca_array1 *result);

#endif
