/* The same tests as with PVM's own library. */
#include "../layer-pvm/tests.c"
