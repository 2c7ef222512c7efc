/* Functions of pvm3.h that take any number of arguments, which only C can define. */

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

#include "pvm3.h"

int lpvmerr(const char *function, int code);

/* One conversion of a format. */
struct conversion {
	int count;
	int stride;
	int is_array; /* whether a count or a stride was given */
	int is_short;
	int is_long;
	int is_unsigned;
	char kind;
};

/* Reads a number, or takes it from the arguments if there is a star. */
static const char *read_number(const char *at, int *number, va_list *arguments)
{
	if (*at == '*') {
		*number = va_arg(*arguments, int);
		return at + 1;
	}
	*number = (int)strtol(at, NULL, 10);
	while (isdigit((unsigned char)*at))
		at++;
	return at;
}

/* Reads the conversion after a percent sign; NULL if there is none. */
static const char *read_conversion(const char *at, struct conversion *is, va_list *arguments)
{
	*is = (struct conversion){.count = 1, .stride = 1};
	if (isdigit((unsigned char)*at) || *at == '*') {
		at = read_number(at, &is->count, arguments);
		is->is_array = 1;
	}
	if (*at == '.') {
		at = read_number(at + 1, &is->stride, arguments);
		is->is_array = 1;
	}
	for (;; at++) {
		if (*at == 'h')
			is->is_short = 1;
		else if (*at == 'l')
			is->is_long = 1;
		else if (*at == 'u')
			is->is_unsigned = 1;
		else
			break;
	}
	is->kind = *at;
	switch (*at) {
	case 'c':
	case 'd':
	case 'f':
	case 'x':
	case 's':
		return at + 1;
	default:
		return NULL;
	}
}

/* Packs numbers from an array. */
static int pack_array(const struct conversion *is, void *at)
{
	int n = is->count, stride = is->stride;
	switch (is->kind) {
	case 'c':
		return pvm_pkbyte(at, n, stride);
	case 'd':
		if (is->is_short)
			return is->is_unsigned ? pvm_pkushort(at, n, stride) : pvm_pkshort(at, n, stride);
		if (is->is_long)
			return is->is_unsigned ? pvm_pkulong(at, n, stride) : pvm_pklong(at, n, stride);
		return is->is_unsigned ? pvm_pkuint(at, n, stride) : pvm_pkint(at, n, stride);
	case 'f':
		return is->is_long ? pvm_pkdouble(at, n, stride) : pvm_pkfloat(at, n, stride);
	case 'x':
		return is->is_long ? pvm_pkdcplx(at, n, stride) : pvm_pkcplx(at, n, stride);
	default:
		return pvm_pkstr(at);
	}
}

static int unpack_array(const struct conversion *is, void *at)
{
	int n = is->count, stride = is->stride;
	switch (is->kind) {
	case 'c':
		return pvm_upkbyte(at, n, stride);
	case 'd':
		if (is->is_short)
			return is->is_unsigned ? pvm_upkushort(at, n, stride) : pvm_upkshort(at, n, stride);
		if (is->is_long)
			return is->is_unsigned ? pvm_upkulong(at, n, stride) : pvm_upklong(at, n, stride);
		return is->is_unsigned ? pvm_upkuint(at, n, stride) : pvm_upkint(at, n, stride);
	case 'f':
		return is->is_long ? pvm_upkdouble(at, n, stride) : pvm_upkfloat(at, n, stride);
	case 'x':
		return is->is_long ? pvm_upkdcplx(at, n, stride) : pvm_upkcplx(at, n, stride);
	default:
		return pvm_upkstr(at);
	}
}

/* Packs one number that is passed by value. Texts and complex numbers are always passed by pointer. */
static int pack_value(const struct conversion *is, va_list *arguments)
{
	switch (is->kind) {
	case 'c': {
		char value = (char)va_arg(*arguments, int);
		return pack_array(is, &value);
	}
	case 'd':
		if (is->is_short) {
			short value = (short)va_arg(*arguments, int);
			return pack_array(is, &value);
		}
		if (is->is_long) {
			long value = va_arg(*arguments, long);
			return pack_array(is, &value);
		} else {
			int value = va_arg(*arguments, int);
			return pack_array(is, &value);
		}
	case 'f': {
		double value = va_arg(*arguments, double);
		if (is->is_long)
			return pack_array(is, &value);
		float single = (float)value;
		return pack_array(is, &single);
	}
	default:
		return pack_array(is, va_arg(*arguments, void *));
	}
}

int pvm_vpackf(const char *format, va_list given)
{
	va_list arguments;
	int status = 0;
	const char *at = format;
	if (at == NULL)
		return lpvmerr("pvm_packf", PvmBadParam);
	va_copy(arguments, given);
	if (at[0] == '%' && at[1] == '+') {
		status = pvm_initsend(va_arg(arguments, int));
		if (status > 0)
			status = 0;
		at += 2;
	}
	while (status == 0 && *at != '\0') {
		struct conversion is;
		if (*at++ != '%')
			continue;
		at = read_conversion(at, &is, &arguments);
		if (at == NULL)
			status = lpvmerr("pvm_packf", PvmBadParam);
		else if (is.is_array)
			status = pack_array(&is, va_arg(arguments, void *));
		else
			status = pack_value(&is, &arguments);
		if (at == NULL)
			break;
	}
	va_end(arguments);
	return status;
}

int pvm_vunpackf(const char *format, va_list given)
{
	va_list arguments;
	int status = 0;
	const char *at = format;
	if (at == NULL)
		return lpvmerr("pvm_unpackf", PvmBadParam);
	va_copy(arguments, given);
	while (status == 0 && *at != '\0') {
		struct conversion is;
		if (*at++ != '%')
			continue;
		at = read_conversion(at, &is, &arguments);
		if (at == NULL) {
			status = lpvmerr("pvm_unpackf", PvmBadParam);
			break;
		}
		status = unpack_array(&is, va_arg(arguments, void *));
	}
	va_end(arguments);
	return status;
}

int pvm_packf(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int status = pvm_vpackf(format, arguments);
	va_end(arguments);
	return status;
}

int pvm_unpackf(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int status = pvm_vunpackf(format, arguments);
	va_end(arguments);
	return status;
}
