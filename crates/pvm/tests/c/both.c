/* A program that uses two libraries written in Rust: PVM's and Panda's. */

#include <stdio.h>
#include <string.h>

#include "panda.h"
#include "pvm3.h"

int main(void)
{
	panda_message *message = panda_message_of("both", 4);
	char bytes[5] = "", again[5] = "";
	int own = pvm_mytid();
	if (own < 0 || panda_message_pop(message, bytes, 4) != PANDA_OK)
		return 1;
	panda_message_free(message);
	pvm_initsend(PvmDataDefault);
	pvm_pkstr(bytes);
	pvm_send(own, 1);
	pvm_recv(own, 1);
	pvm_upkstr(again);
	printf("%s\n", again);
	pvm_exit();
	return strcmp(bytes, again) != 0;
}
