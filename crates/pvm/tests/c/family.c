/* A parent and its children: spawning, arguments, messages, groups, mailbox, notices, caught output. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pvm3.h"

enum { CHILDREN = 3, READY = 1, WORK = 2, RESULT = 3, GONE = 4, GO = 5 };

static int wait_for(int tid, int tag)
{
	int number = -1;
	if (pvm_recv(tid, tag) > 0)
		pvm_upkint(&number, 1, 1);
	return number;
}

static void tell(int tid, int tag, int number)
{
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	pvm_send(tid, tag);
}

static int child(int count, char **arguments)
{
	int parent = pvm_parent(), *siblings, place = -1, number, array[2], all[2 * CHILDREN] = {0};
	int there = pvm_siblings(&siblings);
	for (int i = 0; i < there; i++)
		if (siblings[i] == pvm_mytid())
			place = i;
	printf("child %d of %d, %d arguments, last %s\n", place, there, count - 1, arguments[count - 1]);
	tell(parent, READY, place);
	number = wait_for(parent, WORK);
	tell(parent, RESULT, number * number);

	pvm_joingroup("family");
	pvm_barrier("family", CHILDREN + 1);
	array[0] = place;
	array[1] = 10 * place;
	pvm_reduce(PvmSum, array, 2, PVM_INT, 20, "family", pvm_getinst("family", parent));
	pvm_gather(all, array, 2, PVM_INT, 21, "family", pvm_getinst("family", parent));
	pvm_scatter(array, all, 2, PVM_INT, 22, "family", pvm_getinst("family", parent));
	tell(parent, RESULT, array[0] + array[1]);
	number = wait_for(parent, GO);
	pvm_barrier("family", CHILDREN + 1);
	pvm_lvgroup("family");
	tell(parent, RESULT, 100 + number);
	if (place == 1)
		pause();
	if (place == 2)
		sleep(1); /* its messages must be in flight before it ends without leaving */
	else
		pvm_exit();
	return 0;
}

int main(int count, char **arguments)
{
	int tids[CHILDREN], sum = 0, array[2] = {1, 1}, all[2 * (CHILDREN + 1)], part[2 * (CHILDREN + 1)];
	char *given[] = {"one", "two", NULL};
	setbuf(stdout, NULL);
	if (pvm_mytid() < 0)
		return 1;
	if (pvm_parent() > 0)
		return child(count, arguments);

	pvm_catchout(stderr);
	printf("spawned %d\n", pvm_spawn("family", given, PvmTaskDefault, "", CHILDREN, tids));
	printf("notify %d\n", pvm_notify(PvmTaskExit, GONE, CHILDREN, tids));
	for (int i = 0; i < CHILDREN; i++)
		printf("child %d is at place %d\n", i, wait_for(tids[i], READY));
	for (int i = 0; i < CHILDREN; i++)
		tell(tids[i], WORK, i + 2);
	for (int i = CHILDREN - 1; i >= 0; i--)
		printf("result %d\n", wait_for(tids[i], RESULT));

	pvm_joingroup("family");
	printf("barrier %d\n", pvm_barrier("family", CHILDREN + 1));
	printf("size %d\n", pvm_gsize("family"));
	printf("reduce %d", pvm_reduce(PvmSum, array, 2, PVM_INT, 20, "family", pvm_getinst("family", pvm_mytid())));
	printf(": %d %d\n", array[0], array[1]);
	array[0] = array[1] = 7;
	printf("gather %d", pvm_gather(all, array, 2, PVM_INT, 21, "family", pvm_getinst("family", pvm_mytid())));
	for (int i = 0; i < 2 * (CHILDREN + 1); i++)
		sum += all[i];
	printf(": %d\n", sum);
	for (int i = 0; i < 2 * (CHILDREN + 1); i++)
		part[i] = i;
	printf("scatter %d\n",
	       pvm_scatter(array, part, 2, PVM_INT, 22, "family", pvm_getinst("family", pvm_mytid())));
	sum = array[0] + array[1];
	for (int i = 0; i < CHILDREN; i++)
		sum += wait_for(tids[i], RESULT);
	printf("all parts %d\n", sum);
	pvm_initsend(PvmDataRaw);
	sum = 5;
	pvm_pkint(&sum, 1, 1);
	printf("bcast %d\n", pvm_bcast("family", GO));
	printf("barrier %d\n", pvm_barrier("family", CHILDREN + 1));
	sum = 0;
	for (int i = 0; i < CHILDREN; i++)
		sum += wait_for(tids[i], RESULT);
	printf("last results %d\n", sum);
	printf("sendsig %d\n", pvm_sendsig(tids[1], SIGKILL));
	sum = 0;
	for (int i = 0; i < CHILDREN; i++) {
		int gone = wait_for(-1, GONE);
		for (int at = 0; at < CHILDREN; at++)
			if (tids[at] == gone)
				sum += 1 << at;
	}
	printf("gone %d\n", sum);
	for (int i = 0; i < CHILDREN; i++)
		printf("state of child %d: %d\n", i, pvm_pstat(tids[i]));
	printf("left the group %d\n", pvm_lvgroup("family"));
	printf("exit %d\n", pvm_exit());
	return 0;
}
