#include "textflag.h"

// A conditional jump at an address of its own, taken or not by a pseudo-random bit, and so many of them that branch prediction forgets what it
// learnt in the slices before: a loop of a few nanoseconds has several stable speeds by what was learnt when it was first seen.
#define JUMP RORQ $1, AX; JCS 2(PC); XORQ BX, BX
#define JUMPS_10 JUMP; JUMP; JUMP; JUMP; JUMP; JUMP; JUMP; JUMP; JUMP; JUMP
#define JUMPS_100 JUMPS_10; JUMPS_10; JUMPS_10; JUMPS_10; JUMPS_10; JUMPS_10; JUMPS_10; JUMPS_10; JUMPS_10; JUMPS_10
#define JUMPS_500 JUMPS_100; JUMPS_100; JUMPS_100; JUMPS_100; JUMPS_100

// func unlearn(bits uint64)
TEXT ·unlearn(SB), NOSPLIT, $0-8
	MOVQ bits+0(FP), AX
	JUMPS_500
	JUMPS_500
	JUMPS_500
	JUMPS_500
	RET
