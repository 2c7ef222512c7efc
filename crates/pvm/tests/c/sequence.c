/* Random sequences of packing, unpacking and buffer calls: sequence FIRST COUNT. Compared with PVM's own library. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pvm3.h"

enum { BUFFERS = 5, ROOM = 64, STEPS = 40 };

static unsigned long long state;

static unsigned below(unsigned limit)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % limit;
}

/* The buffers of a sequence. They are printed by their places, because the library chooses the ids. */
static int ids[BUFFERS];

static const char *shown(int id)
{
	static char text[16];
	if (id <= 0) {
		snprintf(text, sizeof text, "%d", id);
		return text;
	}
	for (int i = 0; i < BUFFERS; i++)
		if (ids[i] == id) {
			snprintf(text, sizeof text, "#%d", i);
			return text;
		}
	return "other";
}

/* Forgets a buffer that the library has freed. */
static void forget(int id)
{
	for (int i = 0; i < BUFFERS; i++)
		if (ids[i] == id)
			ids[i] = 0;
}

static void show_chosen(void)
{
	int bytes = -1, tag = -1, tid = -1, id = pvm_getrbuf();
	printf(" packs %s", shown(pvm_getsbuf()));
	printf(" unpacks %s", shown(id));
	if (id > 0 && pvm_bufinfo(id, &bytes, &tag, &tid) == 0)
		printf(" of %d bytes", bytes);
	printf("\n");
}

static void pack(void)
{
	union {
		char c[ROOM * 16];
		short s[ROOM];
		int i[ROOM];
		long l[ROOM];
		float f[ROOM];
		double d[ROOM];
	} array;
	int kind = (int)below(12), n = (int)below(6), stride = 1 + (int)below(2), status;
	memset(&array, 0, sizeof array);
	/* PVM's own library pads units with stray bytes, and loses the sign of a long. */
	if (kind == 0)
		n *= 4;
	if (kind == 8)
		n = 4 * n + 3;
	for (int i = 0; i < ROOM; i++)
		switch (kind) {
		case 0: array.c[i] = (char)below(128); break;
		case 1: case 9: array.s[i] = (short)below(30000); break;
		case 2: case 10: array.i[i] = (int)below(2000000000); break;
		case 3: case 11: array.l[i] = (long)below(2000000000); break;
		case 4: case 6: array.f[i] = (float)below(1000) / 8; break;
		case 5: case 7: array.d[i] = (double)below(1000) / 8; break;
		default: array.c[i] = i < n ? (char)('a' + below(26)) : '\0';
		}
	switch (kind) {
	case 0: status = pvm_pkbyte(array.c, n, stride); break;
	case 1: status = pvm_pkshort(array.s, n, stride); break;
	case 2: status = pvm_pkint(array.i, n, stride); break;
	case 3: status = pvm_pklong(array.l, n, stride); break;
	case 4: status = pvm_pkfloat(array.f, n, stride); break;
	case 5: status = pvm_pkdouble(array.d, n, stride); break;
	case 6: status = pvm_pkcplx(array.f, n, stride); break;
	case 7: status = pvm_pkdcplx(array.d, n, stride); break;
	case 8: status = pvm_pkstr(array.c); break;
	case 9: status = pvm_pkushort((unsigned short *)array.s, n, stride); break;
	case 10: status = pvm_pkuint((unsigned *)array.i, n, stride); break;
	default: status = pvm_pkulong((unsigned long *)array.l, n, stride); break;
	}
	printf("pack %d %d %d = %d", kind, n, stride, status);
}

static void unpack(void)
{
	/* Aligned for all kinds; a text may be as long as the whole message. */
	static double room[4096];
	char *at = (char *)room;
	int kind = (int)below(12), n = (int)below(6), stride = 1 + (int)below(2), status;
	unsigned sum = 0;
	memset(room, 0, sizeof room);
	switch (kind) {
	case 0: status = pvm_upkbyte(at, n, stride); break;
	case 1: status = pvm_upkshort((short *)at, n, stride); break;
	case 2: status = pvm_upkint((int *)at, n, stride); break;
	case 3: status = pvm_upklong((long *)at, n, stride); break;
	case 4: status = pvm_upkfloat((float *)at, n, stride); break;
	case 5: status = pvm_upkdouble((double *)at, n, stride); break;
	case 6: status = pvm_upkcplx((float *)at, n, stride); break;
	case 7: status = pvm_upkdcplx((double *)at, n, stride); break;
	case 8: status = pvm_upkstr(at); break;
	case 9: status = pvm_upkushort((unsigned short *)at, n, stride); break;
	case 10: status = pvm_upkuint((unsigned *)at, n, stride); break;
	default: status = pvm_upkulong((unsigned long *)at, n, stride); break;
	}
	/* After a failure the rest of the room is unspecified, and so are the bytes after a malformed text. */
	if (status == 0)
		for (unsigned i = 0; i < sizeof room; i++)
			sum = sum * 31 + (unsigned char)at[i];
	printf("unpack %d %d %d = %d sum %u", kind, n, stride, status, sum);
	/* After more bytes or doubles than there are, 0 bytes take PVM's own library back to the beginning of the message. */
	if ((kind == 0 || kind == 5 || kind == 7 || kind == 8) && status < 0)
		pvm_setrbuf(0);
}

static void step(void)
{
	int place = (int)below(BUFFERS), before, came;
	switch (below(10)) {
	case 0:
		forget(pvm_getsbuf());
		ids[place] = pvm_initsend((int)below(2));
		printf("initsend #%d", place);
		break;
	case 1:
		if (ids[place] == 0) {
			ids[place] = pvm_mkbuf((int)below(2));
			printf("mkbuf #%d", place);
		}
		break;
	case 2:
		before = pvm_setsbuf(ids[place]);
		printf("setsbuf #%d = %s", place, shown(before));
		break;
	case 3:
		if (below(4) == 0) {
			printf("freebuf #%d = %d", place, pvm_freebuf(ids[place]));
			ids[place] = 0;
		}
		break;
	case 4:
		if (pvm_getsbuf() == 0)
			break;
		before = pvm_getrbuf();
		printf("send = %d", pvm_send(pvm_mytid(), 3));
		/* In PVM's own library a message to its sender shares memory with the sent buffer. */
		forget(pvm_getsbuf());
		pvm_freebuf(pvm_setsbuf(0));
		came = pvm_recv(-1, 3);
		forget(before);
		ids[place] = came;
		printf(" received #%d", place);
		break;
	case 5: case 6: case 7:
		pack();
		break;
	default:
		unpack();
	}
	show_chosen();
}

int main(int count, char **arguments)
{
	unsigned first = count > 1 ? (unsigned)atoi(arguments[1]) : 1;
	unsigned sequences = count > 2 ? (unsigned)atoi(arguments[2]) : 10;
	if (pvm_mytid() < 0)
		return 1;
	pvm_setopt(PvmAutoErr, 0);
	for (unsigned i = first; i < first + sequences; i++) {
		state = i;
		printf("sequence %u\n", i);
		memset(ids, 0, sizeof ids);
		for (int at = 0; at < STEPS; at++)
			step();
		pvm_freebuf(pvm_setsbuf(0));
		pvm_freebuf(pvm_setrbuf(0));
		for (int at = 0; at < BUFFERS; at++)
			if (ids[at] > 0)
				pvm_freebuf(ids[at]);
	}
	pvm_exit();
	return 0;
}
