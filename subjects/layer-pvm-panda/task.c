/* The same task as with PVM's own library. */
#include "../layer-pvm/task.c"
