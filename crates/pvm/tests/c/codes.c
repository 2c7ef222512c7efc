/* Results of functions for one task, in correct and in wrong use. Compared with PVM's own library. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pvm3.h"

/* Microseconds after which a message has come even on a busy machine: PVM's goes through its daemon. */
#define ARRIVAL 1000000

#define SHOW(call) printf("%s = %d\n", #call, call)

static int bytes_packed(void)
{
	int bytes = -1, tag, tid;
	pvm_bufinfo(pvm_getsbuf(), &bytes, &tag, &tid);
	return bytes;
}

/* Sends the packed buffer to this task itself, and receives it. */
static void pass(int tag)
{
	pvm_send(pvm_mytid(), tag);
	pvm_recv(-1, tag);
}

static void packing(int encoding)
{
	char bytes[16] = "abcdefgh", text[16];
	short shorts[4] = {1, -2, 3, 4};
	unsigned short ushorts[2] = {65535, 1};
	int ints[6] = {1, -2, 3, 4, 5, 6};
	unsigned uints[2] = {4000000000u, 1};
	long longs[2] = {1, -2};
	unsigned long ulongs[2] = {4000000000ul, 2};
	float floats[4] = {1.5f, -2, 3, 4};
	double doubles[4] = {1.5, -2, 3, 4};
	printf("encoding %d\n", encoding);
#define PACK(call) \
	do { \
		pvm_initsend(encoding); \
		SHOW(call); \
		printf("%d bytes\n", bytes_packed()); \
	} while (0)
	PACK(pvm_pkbyte(bytes, 1, 1));
	PACK(pvm_pkbyte(bytes, 5, 1));
	PACK(pvm_pkbyte(bytes, 3, 2));
	PACK(pvm_pkshort(shorts, 3, 1));
	PACK(pvm_pkushort(ushorts, 2, 1));
	PACK(pvm_pkint(ints, 3, 1));
	PACK(pvm_pkint(ints, 2, 2));
	PACK(pvm_pkint(ints, 2, 0));
	PACK(pvm_pkint(ints, 0, 1));
	PACK(pvm_pkint(ints, -1, 1));
	PACK(pvm_pkuint(uints, 2, 1));
	PACK(pvm_pklong(longs, 2, 1));
	PACK(pvm_pkulong(ulongs, 2, 1));
	PACK(pvm_pkfloat(floats, 2, 1));
	PACK(pvm_pkdouble(doubles, 2, 1));
	PACK(pvm_pkcplx(floats, 2, 1));
	PACK(pvm_pkdcplx(doubles, 2, 1));
	PACK(pvm_pkstr("hello"));
	PACK(pvm_pkstr(""));
	if (encoding == PvmDataInPlace)
		return;

	pvm_initsend(encoding);
	pvm_pkint(ints, 3, 1);
	pass(1);
	memset(ints, 9, sizeof ints);
	SHOW(pvm_upkint(ints, 5, 1));
	printf("%d %d %d\n", ints[0], ints[1], ints[2]);
	SHOW(pvm_upkint(ints, 1, 1));
	SHOW(pvm_upkbyte(text, 1, 1));

	pvm_initsend(encoding);
	pvm_pkstr("hello");
	pass(1);
	SHOW(pvm_upkint(ints, 1, 1));
	SHOW(pvm_upkbyte(text, 6, 1));
	printf("%d %s\n", ints[0], text);

	pvm_initsend(encoding);
	ints[0] = 100;
	pvm_pkint(ints, 1, 1);
	pvm_pkbyte(bytes, 4, 1);
	pass(1);
	SHOW(pvm_upkstr(text));
	SHOW(pvm_upkbyte(text, 1, 1));

	pvm_initsend(encoding);
	pvm_pkushort(ushorts, 2, 1);
	pvm_pkuint(uints, 2, 1);
	pvm_pkulong(ulongs, 2, 1);
	pvm_pkcplx(floats, 2, 1);
	pass(1);
	memset(ushorts, 0, sizeof ushorts);
	memset(uints, 0, sizeof uints);
	memset(ulongs, 0, sizeof ulongs);
	memset(floats, 0, sizeof floats);
	SHOW(pvm_upkushort(ushorts, 2, 1));
	SHOW(pvm_upkuint(uints, 2, 1));
	SHOW(pvm_upkulong(ulongs, 2, 1));
	SHOW(pvm_upkcplx(floats, 1, 1));
	printf("%u %u %lu %g %g\n", ushorts[0], uints[0], ulongs[0], floats[0], floats[1]);
	SHOW(pvm_upkint(ints, -1, 1));
}

static void buffers(void)
{
	int number = 1, bytes, tag, tid, sent;
	int pair[2] = {1, 2};
	struct pvmminfo info;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	pvm_send(pvm_mytid(), 1);
	number = 2;
	SHOW(pvm_pkint(&number, 1, 1));
	pvm_send(pvm_mytid(), 1);
	for (int i = 0; i < 2; i++) {
		pvm_recv(-1, 1);
		pvm_bufinfo(pvm_getrbuf(), &bytes, &tag, &tid);
		printf("%d bytes tag %d own %d\n", bytes, tag, tid == pvm_mytid());
	}
	sent = pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	SHOW(pvm_setrbuf(sent) > 0);
	number = 7;
	SHOW(pvm_upkint(&number, 1, 1));
	printf("%d\n", number);
	SHOW(pvm_getsbuf() == sent);

	pvm_initsend(PvmDataDefault);
	pvm_pkint(pair, 2, 1);
	pvm_send(pvm_mytid(), 1);
	sent = pvm_recv(-1, 1);
	pvm_setsbuf(sent);
	SHOW(pvm_pkint(&number, 1, 1));
	SHOW(pvm_send(pvm_mytid(), 2));
	pvm_recv(-1, 2);
	pvm_bufinfo(pvm_getrbuf(), &bytes, &tag, &tid);
	printf("%d bytes\n", bytes);

	pvm_setsbuf(0);
	SHOW(pvm_pkint(&number, 1, 1));
	SHOW(pvm_send(pvm_mytid(), 1));
	SHOW(pvm_mcast(pair, 1, 2));
	SHOW(pvm_setrbuf(0) >= 0);
	SHOW(pvm_upkint(&number, 1, 1));
	SHOW(pvm_freebuf(999));
	SHOW(pvm_freebuf(0));
	SHOW(pvm_setrbuf(999));
	SHOW(pvm_setsbuf(999));
	SHOW(pvm_bufinfo(999, &bytes, &tag, &tid));
	SHOW(pvm_mkbuf(77));
	SHOW(pvm_initsend(77));

	pvm_initsend(PvmDataInPlace);
	pair[0] = 7;
	SHOW(pvm_pkint(pair, 2, 1));
	pair[0] = 8;
	SHOW(pvm_send(pvm_mytid(), 5));
	pair[0] = 9;
	SHOW(pvm_send(pvm_mytid(), 5));
	for (int i = 0; i < 2; i++) {
		pvm_recv(-1, 5);
		SHOW(pvm_upkint(&number, 1, 1));
		pvm_getminfo(pvm_getrbuf(), &info);
		printf("%d len %d enc %x tag %d ctx %d\n", number, info.len, info.enc, info.tag, info.ctx);
	}
	sent = pvm_mkbuf(PvmDataRaw);
	pvm_setsbuf(sent);
	SHOW(pvm_pkmesg(pvm_getrbuf()));
	pass(6);
	number = pvm_upkmesg();
	SHOW(number > 0);
	pvm_setrbuf(number);
	SHOW(pvm_upkint(pair, 2, 1));
	printf("%d %d\n", pair[0], pair[1]);
	info.tag = 55;
	info.wid = 3;
	info.ctx = 4;
	SHOW(pvm_setminfo(number, &info));
	pvm_getminfo(number, &info);
	printf("tag %d wid %d ctx %d\n", info.tag, info.wid, info.ctx);
}

static void formats(void)
{
	int number = 0, count = 2, array[4] = {1, 2, 3, 4};
	char text[8] = "xyz";
	double real = 0;
	pvm_initsend(PvmDataDefault);
	SHOW(pvm_packf("%d %3c %2.2d %s %lf", 5, "abc", array, text, 1.5));
	pass(7);
	SHOW(pvm_unpackf("%d %3c", &number, text));
	printf("%d %.3s\n", number, text);
	SHOW(pvm_unpackf("%2.2d %s %lf", array, text, &real));
	printf("%d %d %s %g\n", array[0], array[2], text, real);
	SHOW(pvm_packf("%+ %*d", PvmDataDefault, count, array));
	printf("%d bytes\n", bytes_packed());
	SHOW(pvm_packf("%+ %*.*d", PvmDataRaw, 2, 2, array));
	printf("%d bytes\n", bytes_packed());
	SHOW(pvm_packf("%q", 1));
	SHOW(pvm_packf("abc"));
	SHOW(pvm_packf("%f", 1.5));
}

static void messages(void)
{
	int own = pvm_mytid(), tids[2], length, tag, tid;
	char text[8] = "";
	struct timeval soon = {0, 1000};
	tids[0] = tids[1] = own;
	pvm_initsend(PvmDataDefault);
	SHOW(pvm_send(-5, 3));
	SHOW(pvm_send(own, -3));
	SHOW(pvm_nrecv(-1, 7));
	SHOW(pvm_probe(-1, 7));
	SHOW(pvm_trecv(-1, 7, &soon));
	SHOW(pvm_mcast(tids, 2, 4));
	SHOW(pvm_nrecv(-1, 4));
	SHOW(pvm_send(own, 8));
	usleep(ARRIVAL);
	SHOW(pvm_probe(-1, 8) > 0);
	SHOW(pvm_probe(own, 9));
	SHOW(pvm_nrecv(own, 8) > 0);
	SHOW(pvm_nrecv(own, 8));
	SHOW(pvm_psend(own, 5, "abc", 3, PVM_BYTE));
	SHOW(pvm_precv(-1, 5, text, 8, PVM_BYTE, &tid, &tag, &length));
	printf("%s own %d tag %d length %d\n", text, tid == own, tag, length);
	SHOW(pvm_psend(own, 5, "abc", 3, 99));
	SHOW(pvm_getcontext());
	SHOW(pvm_setcontext(7));
	SHOW(pvm_getcontext());
	SHOW(pvm_send(own, 8));
	usleep(ARRIVAL);
	SHOW(pvm_setcontext(0));
	SHOW(pvm_nrecv(-1, 8));
	SHOW(pvm_setcontext(7));
	SHOW(pvm_nrecv(-1, 8) > 0);
	SHOW(pvm_setcontext(0));
	SHOW(pvm_freecontext(12345));
	SHOW(pvm_freecontext(pvm_newcontext()));
}

static int handled;

static int handler(int buffer)
{
	int number = 0;
	(void)buffer;
	pvm_upkint(&number, 1, 1);
	handled += number;
	return 0;
}

/* Wants one tag, even if other messages have come: PVM's own library looks before all have. */
static int only_43(int buffer, int tid, int tag)
{
	int bytes, its_tag = 0, its_tid;
	(void)tid, (void)tag;
	pvm_bufinfo(buffer, &bytes, &its_tag, &its_tid);
	return its_tag == 43 ? 2 : 0;
}

static void choosing(void)
{
	int own = pvm_mytid(), number = 5, bytes, tag, tid, added;
	struct timeval moment = {1, 0};
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	added = pvm_addmhf(-1, 30, -1, handler);
	SHOW(added >= 0);
	SHOW(pvm_addmhf(-1, 30, -1, handler));
	SHOW(pvm_send(own, 30));
	SHOW(pvm_trecv(-1, 31, &moment));
	printf("handled %d\n", handled);
	SHOW(pvm_getsbuf() > 0);
	for (int i = 0; i < 3; i++)
		pvm_send(own, (int[]){41, 43, 42}[i]);
	usleep(ARRIVAL);
	pvm_recvf(only_43);
	pvm_recv(-1, -1);
	pvm_bufinfo(pvm_getrbuf(), &bytes, &tag, &tid);
	printf("chosen %d\n", tag);
	SHOW(pvm_recvf(NULL) == only_43);
	for (int i = 0; i < 2; i++) {
		pvm_recv(-1, -1);
		pvm_bufinfo(pvm_getrbuf(), &bytes, &tag, &tid);
		printf("then %d\n", tag);
	}
}

static void tasks(void)
{
	int tids[2], count, kinds, *siblings;
	struct pvmhostinfo *hosts;
	struct pvmtaskinfo *task;
	SHOW(pvm_parent());
	SHOW(pvm_config(&count, &kinds, &hosts));
	printf("%d %d %s %d %x\n", count, kinds, hosts->hi_arch, hosts->hi_speed, hosts->hi_dsig);
	SHOW(hosts->hi_tid == pvm_tidtohost(pvm_mytid()));
	SHOW(pvm_tasks(pvm_mytid(), &count, &task));
	printf("%d %d %d '%s'\n", count, task->ti_tid == pvm_mytid(), task->ti_ptid, task->ti_a_out);
	SHOW(pvm_tasks(0x80000, &count, &task));
	SHOW(pvm_pstat(pvm_mytid()));
	SHOW(pvm_pstat(0x40fff));
	SHOW(pvm_pstat(-1));
	SHOW(pvm_mstat("localhost"));
	SHOW(pvm_mstat("no host"));
	SHOW(pvm_kill(-1));
	SHOW(pvm_siblings(&siblings));
	SHOW(siblings[0] == pvm_mytid());
	SHOW(pvm_spawn("no such program", NULL, 0, "", 2, tids));
	printf("%d %d\n", tids[0], tids[1]);
	SHOW(pvm_spawn("codes", NULL, PvmTaskHost, "no host", 1, tids));
	printf("%d\n", tids[0]);
	SHOW(pvm_spawn("codes", NULL, 0, "", 0, tids));
	SHOW(pvm_notify(77, 1, 1, tids));
	SHOW(pvm_notify(PvmTaskExit, 1, -1, tids));
	SHOW(pvm_archcode("LINUX64"));
	SHOW(pvm_archcode("no kind"));
	SHOW(pvm_export("A"));
	SHOW(pvm_delmhf(-1));
}

static void options(void)
{
	static const int shown[] = {1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 21, 22, 23, 24, 25};
	for (unsigned i = 0; i < sizeof shown / sizeof *shown; i++)
		if (shown[i] != 21)
			printf("option %d = %d\n", shown[i], pvm_getopt(shown[i]));
	SHOW(pvm_getopt(99));
	SHOW(pvm_setopt(99, 1));
	SHOW(pvm_setopt(PvmRoute, 9));
	SHOW(pvm_setopt(PvmRoute, PvmRouteDirect));
	SHOW(pvm_setopt(PvmRoute, PvmAllowDirect));
	SHOW(pvm_getopt(PvmPollType));
}

static void groups(void)
{
	int own = pvm_mytid(), array[2] = {3, 4}, other[2];
	SHOW(pvm_joingroup("g"));
	SHOW(pvm_joingroup("g"));
	SHOW(pvm_joingroup(""));
	SHOW(pvm_gsize("g"));
	SHOW(pvm_gsize("h"));
	SHOW(pvm_getinst("g", own));
	SHOW(pvm_getinst("g", 1));
	SHOW(pvm_getinst("h", own));
	SHOW(pvm_gettid("g", 0) == own);
	SHOW(pvm_gettid("g", 5));
	SHOW(pvm_gettid("h", 0));
	SHOW(pvm_barrier("g", 1));
	SHOW(pvm_barrier("g", -1));
	SHOW(pvm_barrier("h", 1));
	pvm_initsend(PvmDataDefault);
	SHOW(pvm_bcast("g", 1));
	SHOW(pvm_bcast("h", 1));
	SHOW(pvm_reduce(PvmSum, array, 2, PVM_INT, 5, "g", 0));
	SHOW(pvm_reduce(PvmSum, array, 2, 99, 5, "g", 0));
	SHOW(pvm_reduce(PvmSum, array, 2, PVM_INT, 5, "h", 0));
	SHOW(pvm_reduce(PvmSum, array, 2, PVM_INT, 5, "g", 3));
	SHOW(pvm_reduce(PvmSum, array, -2, PVM_INT, 5, "g", 0));
	SHOW(pvm_scatter(other, array, 2, PVM_INT, 6, "g", 0));
	printf("%d %d\n", other[0], other[1]);
	SHOW(pvm_gather(other, array, 2, PVM_INT, 6, "g", 0));
	SHOW(pvm_gather(other, array, 2, PVM_INT, 6, "g", 4));
	SHOW(pvm_freezegroup("g", 1));
	SHOW(pvm_gsize("g"));
	SHOW(pvm_barrier("g", -1));
	SHOW(pvm_joingroup("g"));
	SHOW(pvm_lvgroup("g"));
	SHOW(pvm_lvgroup("g"));
	SHOW(pvm_lvgroup("h"));
	SHOW(pvm_lvgroup(""));
	SHOW(pvm_freezegroup("h", 1));
	SHOW(pvm_joingroup("g"));
	SHOW(pvm_lvgroup("g"));
}

static void letters(void)
{
	int number = 5, count, letter;
	struct pvmmboxinfo *classes;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	letter = pvm_getsbuf();
	SHOW(pvm_putinfo("c", letter, PvmMboxDefault));
	SHOW(pvm_putinfo("c", letter, PvmMboxDefault));
	SHOW(pvm_putinfo("c", letter, PvmMboxMultiInstance));
	SHOW(pvm_putinfo("m", letter, PvmMboxMultiInstance));
	SHOW(pvm_putinfo("m", letter, PvmMboxMultiInstance));
	SHOW(pvm_putinfo("o", letter, PvmMboxOverWritable));
	SHOW(pvm_putinfo("", letter, PvmMboxDefault));
	number = 0;
	SHOW(pvm_recvinfo("c", 0, PvmMboxDefault) > 0);
	SHOW(pvm_upkint(&number, 1, 1));
	printf("%d\n", number);
	SHOW(pvm_recvinfo("none", 0, PvmMboxDefault));
	SHOW(pvm_recvinfo("m", 2, PvmMboxDefault));
	SHOW(pvm_recvinfo("m", 2, PvmMboxFirstAvail));
	SHOW(pvm_recvinfo("m", 0, PvmMboxFirstAvail) > 0);
	SHOW(pvm_recvinfo("m", -1, PvmMboxDefault));
	SHOW(pvm_recvinfo("m", 0, PvmMboxReadAndDelete) > 0);
	SHOW(pvm_recvinfo("m", 0, PvmMboxDefault));
	SHOW(pvm_recvinfo("m", 0, PvmMboxFirstAvail) > 0);
	SHOW(pvm_getmboxinfo("m", &count, &classes));
	/* PVM's own library has mailbox entries of its own, and matches a pattern with a part of a name. */
	for (int i = 0; i < count; i++)
		if (strcmp(classes[i].mi_name, "m") == 0)
			printf("%d letters, the first %d flags %d\n", classes[i].mi_nentries, classes[i].mi_indices[0],
			       classes[i].mi_flags[0]);
	SHOW(pvm_getmboxinfo("nn", &count, &classes));
	printf("%d\n", count);
	SHOW(pvm_delinfo("c", 0, 0));
	SHOW(pvm_delinfo("c", 0, 0));
	SHOW(pvm_delinfo("m", 1, 0));
	SHOW(pvm_delinfo("none", 0, 0));
	SHOW(pvm_insert("k", 1, 77));
	SHOW(pvm_insert("k", 1, 78));
	SHOW(pvm_insert("k", -1, 79));
	SHOW(pvm_lookup("k", 1, &number));
	printf("%d\n", number);
	SHOW(pvm_lookup("k", 9, &number));
	SHOW(pvm_lookup("zz", 0, &number));
	SHOW(pvm_delete("k", 1));
	SHOW(pvm_delete("k", 1));
}

int main(void)
{
	setbuf(stdout, NULL);
	/* Unbuffered, so that its lines keep their order among the library's. */
	if (pvm_mytid() < 0)
		return 1;
	packing(PvmDataDefault);
	packing(PvmDataRaw);
	packing(PvmDataInPlace);
	buffers();
	formats();
	messages();
	choosing();
	tasks();
	options();
	groups();
	letters();
	pvm_freebuf(777);
	pvm_perror("a text");
	pvm_exit();
	return 0;
}
