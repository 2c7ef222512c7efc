/* Cases of ends, and of programs that are started by hand: cases CASE. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "pvm3.h"

enum { CHILDREN = 3, SIBLINGS = 4 };

/* Parents of children that print their process numbers, and then wait for a message that never comes. */
static void have_children(int *tids)
{
	char *waiting[] = {"wait", NULL};
	if (pvm_spawn("cases", waiting, PvmTaskDefault, "", CHILDREN, tids) != CHILDREN)
		exit(1);
	for (int i = 0; i < CHILDREN; i++) {
		int number = 0;
		pvm_recv(tids[i], 1);
		pvm_upkint(&number, 1, 1);
		printf("%d\n", number);
	}
	fflush(stdout);
}

static int child_waits(void)
{
	int number = (int)getpid();
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	pvm_send(pvm_parent(), 1);
	return pvm_recv(-1, -1);
}

static int calls;

static int count_call(int buffer)
{
	(void)buffer;
	return ++calls;
}

/* A handler takes messages until it is removed. */
static int handle(void)
{
	int handler = pvm_addmhf(-1, 30, -1, count_call);
	for (int i = 0; i < 3; i++) {
		pvm_initsend(PvmDataDefault);
		pvm_send(pvm_mytid(), 30);
		pvm_send(pvm_mytid(), 31);
		pvm_recv(-1, 31);
		printf("%d calls\n", calls);
		if (i == 1) {
			printf("deleted %d", pvm_delmhf(handler));
			printf(", again %d\n", pvm_delmhf(handler));
		}
	}
	printf("received %d\n", pvm_recv(-1, 30) > 0);
	pvm_exit();
	return 0;
}

/* One of two programs that meet: the first to come leaves its id, the second greets it. */
static int meet(void)
{
	int own = pvm_mytid(), other = 0, number = 42, letter;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&own, 1, 1);
	if (pvm_joingroup("meet") == 0) {
		if (pvm_putinfo("meeting", pvm_getsbuf(), PvmMboxDefault) != 0)
			return 1;
		pvm_recv(-1, 2);
		pvm_upkint(&number, 1, 1);
		printf("greeted with %d\n", number);
	} else {
		letter = pvm_recvinfo("meeting", 0, PvmMboxWaitForInfo);
		if (letter < 0)
			return 1;
		pvm_upkint(&other, 1, 1);
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&number, 1, 1);
		pvm_send(other, 2);
		printf("has greeted, as one of %d tasks\n", other != own ? 2 : 1);
	}
	pvm_exit();
	return 0;
}

/* One of several siblings that send to each other at once. One of them begins late or never. */
static int is_sibling(int late, const char *how)
{
	int *tids, number = 0, heard = 0, told, own, there;
	struct timeval moment = {0, 1000};
	/* The parent has rank 0. */
	if (atoi(getenv("ANTIPHON_RANK")) == late + 1) {
		usleep(300000);
		if (strcmp(how, "never") == 0)
			return 0;
	}
	own = pvm_mytid();
	there = pvm_siblings(&tids);
	pvm_notify(PvmTaskExit, 9, 1, &tids[late]);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	for (int i = 0; i < there; i++)
		if (tids[i] != own && pvm_send(tids[i], 1) != 0)
			return 1;
	for (int i = 0; i < there; i++) {
		int got = 0;
		if (tids[i] == own)
			continue;
		if (i % 2 == 0)
			got = pvm_recv(tids[i], 1);
		while (got == 0)
			got = pvm_trecv(tids[i], 1, &moment);
		heard += got > 0;
	}
	told = pvm_nrecv(-1, 9) > 0;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&heard, 1, 1);
	pvm_pkint(&told, 1, 1);
	pvm_send(pvm_parent(), 2);
	pvm_recv(pvm_parent(), 3);
	pvm_exit();
	return 0;
}

static int has_siblings(char **late_and_how)
{
	char *arguments[] = {"sibling", late_and_how[0], late_and_how[1], NULL};
	int tids[SIBLINGS], heard, told;
	if (pvm_spawn("cases", arguments, PvmTaskDefault, "", SIBLINGS, tids) != SIBLINGS)
		return 1;
	for (int i = 0; i < SIBLINGS; i++) {
		if (pvm_recv(tids[i], 2) < 0)
			continue;
		pvm_upkint(&heard, 1, 1);
		pvm_upkint(&told, 1, 1);
		printf("heard of %d, told of %d ends\n", heard, told);
	}
	pvm_initsend(PvmDataDefault);
	pvm_mcast(tids, SIBLINGS, 3);
	pvm_exit();
	return 0;
}

enum { GATED = 4, EARLY = 20 };

/* A child that calls the library only once a file is there. The last one never does. */
static int is_gated(const char *gate, const char *how)
{
	int number, last = -1;
	while (access(gate, F_OK) != 0)
		usleep(1000);
	if (strcmp(how, "never") == 0)
		return 0;
	if (pvm_parent() < 0)
		return 1;
	for (int i = 0; i <= EARLY; i++) {
		pvm_recv(pvm_parent(), 1);
		pvm_upkint(&number, 1, 1);
		if (number != last + 1)
			break;
		last = number;
	}
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&last, 1, 1);
	pvm_send(pvm_parent(), 2);
	pvm_exit();
	return 0;
}

/* A parent whose children wait for it before they call the library. It sends to them earlier. */
static int has_gated(const char *gate)
{
	char *begins[] = {"gated", (char *)gate, "begins", NULL};
	char *never[] = {"gated", (char *)gate, "never", NULL};
	int tids[GATED], number = EARLY, ended = 0;
	FILE *file;
	setbuf(stdout, NULL);
	printf("spawned %d\n", pvm_spawn("cases", begins, PvmTaskDefault, "", GATED - 1, tids));
	printf("spawned %d\n", pvm_spawn("cases", never, PvmTaskDefault, "", 1, tids + GATED - 1));
	printf("notify %d\n", pvm_notify(PvmTaskExit, 3, 1, tids + GATED - 1));
	for (int i = 0; i < GATED; i++) {
		printf("state %d\n", pvm_pstat(tids[i]));
		for (int at = 0; at < EARLY; at++) {
			pvm_initsend(PvmDataRaw);
			pvm_pkint(&at, 1, 1);
			if (pvm_send(tids[i], 1) != 0)
				return 1;
		}
	}
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	printf("mcast %d\n", pvm_mcast(tids, GATED, 1));
	printf("nrecv %d\n", pvm_nrecv(tids[0], 2));
	if ((file = fopen(gate, "w")) == NULL)
		return 1;
	fclose(file);
	for (int i = 0; i < GATED - 1; i++) {
		pvm_recv(tids[i], 2);
		pvm_upkint(&number, 1, 1);
		printf("last heard %d\n", number);
	}
	pvm_recv(-1, 3);
	pvm_upkint(&ended, 1, 1);
	printf("told of the last: %d\n", ended == tids[GATED - 1]);
	pvm_exit();
	return 0;
}

enum { SAID = 500 };

/* A child that sends much and then leaves. */
static int is_last_heard(void)
{
	for (int i = 0; i < SAID; i++) {
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&i, 1, 1);
		pvm_send(pvm_parent(), 1);
	}
	/* Its messages are in flight when the parent answers. */
	pvm_recv(pvm_parent(), 2);
	for (int i = 0; i < SAID; i++) {
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&i, 1, 1);
		pvm_send(pvm_parent(), 1);
	}
	pvm_exit();
	return 0;
}

/* Counts the messages of children that come before the notices of their ends. */
static int hears_last(void)
{
	char *arguments[] = {"last-heard", NULL};
	int tids[CHILDREN], heard[CHILDREN] = {0}, ends = 0, tag, tid, gone;
	if (pvm_spawn("cases", arguments, PvmTaskDefault, "", CHILDREN, tids) != CHILDREN)
		return 1;
	pvm_notify(PvmTaskExit, 9, CHILDREN, tids);
	pvm_initsend(PvmDataDefault);
	pvm_mcast(tids, CHILDREN, 2);
	while (ends < CHILDREN) {
		pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, &tid);
		if (tag == 9)
			pvm_upkint(&gone, 1, 1);
		for (int i = 0; i < CHILDREN; i++) {
			heard[i] += tag == 1 && tids[i] == tid;
			if (tag == 9 && tids[i] == gone) {
				printf("heard %d\n", heard[i]);
				ends++;
			}
		}
	}
	pvm_exit();
	return 0;
}

enum { AT_ONCE = 100, TIMES = 3 };

/* A machine that has more tasks over its life than at any time. */
static int has_many(void)
{
	char *waiting[] = {"wait", NULL};
	int tids[AT_ONCE], number;
	for (int time = 0; time < TIMES; time++) {
		printf("spawned %d\n", pvm_spawn("/bin/true", NULL, PvmTaskDefault, "", AT_ONCE, tids));
		pvm_notify(PvmTaskExit, 9, AT_ONCE, tids);
		for (int i = 0; i < AT_ONCE; i++)
			pvm_recv(-1, 9);
	}
	printf("spawned %d\n", pvm_spawn("cases", waiting, PvmTaskDefault, "", CHILDREN, tids));
	for (int i = 0; i < CHILDREN; i++)
		pvm_recv(tids[i], 1);
	pvm_upkint(&number, 1, 1);
	printf("heard of all %d\n", number > 1);
	pvm_initsend(PvmDataDefault);
	pvm_mcast(tids, CHILDREN, 1);
	pvm_exit();
	return 0;
}

/* Hosts that are added and removed, under a launcher that knows them. */
static int has_hosts(void)
{
	char *names[] = {"127.0.0.2", "host9.invalid"}, *waiting[] = {"wait", NULL};
	int results[2], tids[1], number = 0, host = 0, hosts = 0, from = 0;
	pvm_notify(PvmHostAdd, 5, -1, NULL);
	printf("added %d\n", pvm_addhosts(names, 2, results));
	printf("results %d %d\n", results[0] > 0, results[1]);
	printf("again %d", pvm_addhosts(names, 1, results + 1));
	printf(" %d\n", results[1]);
	pvm_recv(-1, 5);
	pvm_upkint(&number, 1, 1);
	pvm_upkint(&host, 1, 1);
	printf("told of %d, the same %d\n", number, host == results[0]);
	printf("spawned %d\n", pvm_spawn("cases", waiting, PvmTaskHost, names[0], 1, tids));
	pvm_bufinfo(pvm_recv(tids[0], 1), NULL, NULL, &from);
	pvm_config(&hosts, NULL, NULL);
	printf("%d hosts, its own %d, itself %d\n", hosts, pvm_tidtohost(tids[0]) == host, from == tids[0]);
	pvm_notify(PvmHostDelete, 6, 1, &host);
	pvm_notify(PvmTaskExit, 7, 1, tids);
	printf("deleted %d\n", pvm_delhosts(names, 1, results));
	pvm_recv(-1, 6);
	pvm_upkint(&number, 1, 1);
	pvm_recv(-1, 7);
	pvm_upkint(&from, 1, 1);
	pvm_config(&hosts, NULL, NULL);
	printf("told of both %d, %d hosts\n", number == host && from == tids[0], hosts);
	pvm_exit();
	return 0;
}

int main(int count, char **arguments)
{
	const char *which = count > 1 ? arguments[1] : "";
	int tids[CHILDREN], array[4] = {0};
	setbuf(stdout, NULL);
	if (strcmp(which, "sibling") == 0)
		return is_sibling(atoi(arguments[2]), arguments[3]);
	if (strcmp(which, "gated") == 0)
		return is_gated(arguments[2], arguments[3]);
	if (pvm_mytid() < 0)
		return 1;
	if (strcmp(which, "wait") == 0)
		return child_waits();
	if (strcmp(which, "siblings") == 0)
		return has_siblings(arguments + 2);
	if (strcmp(which, "early") == 0)
		return has_gated(arguments[2]);
	if (strcmp(which, "last-heard") == 0)
		return is_last_heard();
	if (strcmp(which, "last") == 0)
		return hears_last();
	if (strcmp(which, "many") == 0)
		return has_many();
	if (strcmp(which, "hosts") == 0)
		return has_hosts();
	if (strcmp(which, "meet") == 0)
		return meet();
	if (strcmp(which, "handle") == 0)
		return handle();
	if (strcmp(which, "killed") == 0) {
		have_children(tids);
		pause();
	}
	if (strcmp(which, "left") == 0) {
		have_children(tids);
		pvm_exit();
	}
	if (strcmp(which, "dead") == 0) {
		have_children(tids);
		pvm_notify(PvmTaskExit, 9, CHILDREN, tids);
		for (int i = 0; i < CHILDREN; i++)
			printf("kill %d\n", pvm_kill(tids[i]));
		for (int i = 0; i < CHILDREN; i++)
			pvm_recv(-1, 9);
		printf("receive %d\n", pvm_recv(tids[0], 5));
		printf("receive %d\n", pvm_recv(tids[0] + 1000, 5));
		pvm_initsend(PvmDataDefault);
		pvm_pkint(array, 4, 1);
		printf("send %d\n", pvm_send(tids[0], 5));
		printf("notify %d\n", pvm_notify(PvmTaskExit, 10, 1, tids));
		pvm_recv(-1, 10);
		printf("told again\n");
		pvm_exit();
	}
	if (strcmp(which, "halt") == 0) {
		have_children(tids);
		pvm_halt();
		pause();
	}
	return 0;
}
