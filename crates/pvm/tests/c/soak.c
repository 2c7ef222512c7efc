/* Many tasks, tasks of tasks, many notices, many bytes: soak CASE COUNT. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pvm3.h"

enum { HERE = 1, GO = 2, COUNT = 3, BYTES = 4, FIRST_NOTICE = 100, MOST = 1000 };

static void tell(int tid, int tag, int number)
{
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	pvm_send(tid, tag);
}

static int hear(int tid, int tag)
{
	int number = -1;
	if (pvm_recv(tid, tag) > 0)
		pvm_upkint(&number, 1, 1);
	return number;
}

static int start(const char *which, int number, int count, int *tids)
{
	char text[16], *arguments[] = {(char *)which, text, NULL};
	snprintf(text, sizeof text, "%d", number);
	return pvm_spawn("soak", arguments, PvmTaskDefault, "", count, tids);
}

/* Tasks that meet at a barrier. */
static int member(int count)
{
	pvm_joingroup("all");
	tell(pvm_parent(), HERE, 1);
	hear(pvm_parent(), GO);
	return pvm_barrier("all", count + 1);
}

static int meet(int count)
{
	int tids[MOST], heard = 0;
	pvm_joingroup("all");
	printf("spawned %d\n", start("member", count, count, tids));
	for (int i = 0; i < count; i++)
		heard += hear(tids[i], HERE);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&count, 1, 1);
	pvm_mcast(tids, count, GO);
	printf("heard of %d, barrier %d\n", heard, pvm_barrier("all", count + 1));
	return 0;
}

/* Returns the number of tasks in a tree with this many levels below its root. */
static int tree(int levels)
{
	int tids[2], tasks = 1;
	if (levels > 0 && start("branch", levels - 1, 2, tids) == 2)
		for (int i = 0; i < 2; i++)
			tasks += hear(tids[i], COUNT);
	return tasks;
}

/* Notices of one end, with a tag each. */
static int notices(int count)
{
	int tid, told = 0;
	start("wait", 0, 1, &tid);
	for (int i = 0; i < count; i++)
		pvm_notify(PvmTaskExit, FIRST_NOTICE + i, 1, &tid);
	pvm_kill(tid);
	for (int i = 0; i < count; i++)
		told += hear(-1, FIRST_NOTICE + i) == tid;
	printf("told %d times\n", told);
	return 0;
}

/* A number of messages of some MiB each. */
static int takes_bytes(int count)
{
	int length, wrong = 0;
	for (int i = 0; i < count; i++) {
		pvm_bufinfo(pvm_recv(pvm_parent(), BYTES), &length, NULL, NULL);
		char *bytes = malloc(length);
		pvm_upkbyte(bytes, length, 1);
		wrong += bytes[0] != i || bytes[length - 1] != i;
		free(bytes);
	}
	tell(pvm_parent(), COUNT, wrong);
	return 0;
}

static int send_bytes(int count, int length)
{
	int tid;
	char *bytes = malloc(length);
	start("takes", count, 1, &tid);
	for (int i = 0; i < count; i++) {
		memset(bytes, i, length);
		pvm_initsend(PvmDataRaw);
		pvm_pkbyte(bytes, length, 1);
		pvm_send(tid, BYTES);
	}
	printf("wrong %d\n", hear(tid, COUNT));
	free(bytes);
	return 0;
}

int main(int count, char **arguments)
{
	const char *which = count > 2 ? arguments[1] : "";
	int number = count > 2 ? atoi(arguments[2]) : 0, done = 1;
	setbuf(stdout, NULL);
	if (pvm_mytid() < 0 || number > 1000000)
		return 1;
	if (strcmp(which, "member") == 0)
		done = member(number);
	else if (strcmp(which, "meet") == 0 && number <= MOST)
		done = meet(number);
	else if (strcmp(which, "tree") == 0)
		done = printf("%d tasks\n", tree(number)) < 0;
	else if (strcmp(which, "notices") == 0)
		done = notices(number);
	else if (strcmp(which, "takes") == 0)
		done = takes_bytes(number);
	else if (strcmp(which, "bytes") == 0)
		done = send_bytes(8, number << 10);
	else if (strcmp(which, "branch") == 0) {
		tell(pvm_parent(), COUNT, tree(number));
		done = 0;
	} else if (strcmp(which, "wait") == 0)
		pvm_recv(-1, -1);
	pvm_exit();
	return done;
}
