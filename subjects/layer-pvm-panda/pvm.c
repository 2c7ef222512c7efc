/* The same programs as with PVM's own library. */
#include "../layer-pvm/pvm.c"
