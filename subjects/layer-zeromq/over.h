/* What ZeroMQ goes over: the variant's choice, in the environment. */
#ifndef OVER_H
#define OVER_H

#include "members.h"

enum over { IPC, TCP, INPROC };

enum over over(void);

#endif
