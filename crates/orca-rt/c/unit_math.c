/* The unit Math. */
#include <math.h>

#include "units.h"

double f_Math__sin(double x) { return sin(x); }
double f_Math__cos(double x) { return cos(x); }
double f_Math__tan(double x) { return tan(x); }
double f_Math__asin(double x) { return asin(x); }
double f_Math__acos(double x) { return acos(x); }
double f_Math__atan(double x) { return atan(x); }
double f_Math__atan2(double y, double x) { return atan2(y, x); }
double f_Math__sinh(double x) { return sinh(x); }
double f_Math__cosh(double x) { return cosh(x); }
double f_Math__tanh(double x) { return tanh(x); }
double f_Math__exp(double x) { return exp(x); }
double f_Math__log(double x) { return log(x); }
double f_Math__log10(double x) { return log10(x); }
double f_Math__pow(double x, double y) { return pow(x, y); }
double f_Math__sqrt(double x) { return sqrt(x); }
double f_Math__ceil(double x) { return ceil(x); }
double f_Math__floor(double x) { return floor(x); }
double f_Math__fabs(double x) { return fabs(x); }
double f_Math__ldexp(double x, int32_t n) { return ldexp(x, n); }
double f_Math__frexp(double x, int32_t *n)
{
    int exponent = 0;
    double fraction = frexp(x, &exponent);
    *n = exponent;
    return fraction;
}
double f_Math__modf(double x, double *whole) { return modf(x, whole); }
double f_Math__fmod(double x, double y) { return fmod(x, y); }

double f_Math__IntToLongReal(int32_t n) { return n; }
int32_t f_Math__LongRealToInt(double x) { return orca_trunc(x); }
double f_Math__LongRealMin(double x, double y) { return x < y ? x : y; }
double f_Math__LongRealMax(double x, double y) { return x > y ? x : y; }
int32_t f_Math__LeftShift(int32_t n, int32_t by) { return orca_shl32(n, by); }
int32_t f_Math__RightShift(int32_t n, int32_t by) { return orca_shr32(n, by); }
int32_t f_Math__BitwiseAnd(int32_t m, int32_t n) { return m & n; }
int32_t f_Math__BitwiseOr(int32_t m, int32_t n) { return m | n; }
int32_t f_Math__BitwiseXor(int32_t m, int32_t n) { return m ^ n; }
