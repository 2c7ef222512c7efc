/*
 * PVM 3.4's interface, as Antiphon's libpvm3 has it: names, numbers and layouts are PVM's, so that
 * programs that were written or compiled for PVM run unchanged. See docs/guide/pvm.md.
 */
#ifndef _PVM3_H_
#define _PVM3_H_

#include <sys/time.h>

#define PVM_VER "3.4.6"
#define PVM_MAJOR_VERSION 3
#define PVM_MINOR_VERSION 4
#define PVM_PATCH_VERSION 6

/* Encodings for pvm_initsend and pvm_mkbuf. */
#define PvmDataDefault 0 /* XDR */
#define PvmDataRaw 1     /* the bytes in memory */
#define PvmDataInPlace 2 /* the bytes in memory, read by pvm_send */
#define PvmDataFoo PvmDataDefault
#define PvmDataTrace 4

/* Flags of pvm_spawn. */
#define PvmTaskDefault 0
#define PvmTaskHost 1      /* on the named host */
#define PvmTaskArch 2      /* on a machine of the named kind */
#define PvmTaskDebug 4
#define PvmTaskTrace 8
#define PvmMppFront 16
#define PvmHostCompl 32    /* on any but those */
#define PvmNoSpawnParent 64 /* hides the parent from the child's pvm_parent */

/* Events for pvm_notify. */
#define PvmTaskExit 1
#define PvmHostDelete 2
#define PvmHostAdd 3
#define PvmRouteAdd 4
#define PvmRouteDelete 5
#define PvmNotifyCancel 256 /* added to one of these: sends the notice at once, and cancels it */

/* Options, and values of some of them. */
#define PvmRoute 1
#define PvmDontRoute 1
#define PvmAllowDirect 2
#define PvmRouteDirect 3
#define PvmDebugMask 2
#define PvmAutoErr 3
#define PvmOutputTid 4
#define PvmOutputCode 5
#define PvmTraceTid 6
#define PvmTraceCode 7
#define PvmTraceBuffer 8
#define PvmTraceOptions 9
#define PvmTraceFull 1
#define PvmTraceTime 2
#define PvmTraceCount 3
#define PvmFragSize 10
#define PvmResvTids 11
#define PvmSelfOutputTid 12
#define PvmSelfOutputCode 13
#define PvmSelfTraceTid 14
#define PvmSelfTraceCode 15
#define PvmSelfTraceBuffer 16
#define PvmSelfTraceOptions 17
#define PvmShowTids 18
#define PvmPollType 19
#define PvmPollConstant 1
#define PvmPollSleep 2
#define PvmPollTime 20
#define PvmOutputContext 21
#define PvmTraceContext 22
#define PvmSelfOutputContext 23
#define PvmSelfTraceContext 24
#define PvmNoReset 25

#define PvmTaskSelf 0
#define PvmTaskChild 1

#define PvmBaseContext 0

/* Flags of mailbox entries. */
#define PvmMboxDefault 0
#define PvmMboxPersistent 1    /* stays when its owner ends */
#define PvmMboxMultiInstance 2 /* one of several of the name */
#define PvmMboxOverWritable 4  /* other tasks may replace it */
#define PvmMboxFirstAvail 8    /* the first of this index or a greater one */
#define PvmMboxReadAndDelete 16
#define PvmMboxWaitForInfo 32  /* waits until there is one */
#define PvmMboxMaxFlag 512
#define PvmMboxDirectIndexShift 10
#define PvmMboxMaxDirectIndex ((unsigned)1 << (31 - PvmMboxDirectIndexShift))
#define PvmMboxDirectIndexOf(flags) \
	(((flags) & ((PvmMboxMaxDirectIndex - 1) << PvmMboxDirectIndexShift)) >> PvmMboxDirectIndexShift)
#define PvmMboxDirectIndex(index) \
	((unsigned)(index) >= PvmMboxMaxDirectIndex ? 0 : ((index) << PvmMboxDirectIndexShift))

#define PVMNORESETCLASS "###_PVM_NO_RESET_###"
#define PVMHOSTERCLASS "###_PVM_HOSTER_###"
#define PVMTASKERCLASS "###_PVM_TASKER_###"
#define PVMTRACERCLASS "###_PVM_TRACER_###"
#define PVMRMCLASS "###_PVM_RM_###"

/* Results of functions that fail. */
#define PvmOk 0
#define PvmBadParam -2
#define PvmMismatch -3
#define PvmOverflow -4
#define PvmNoData -5
#define PvmNoHost -6
#define PvmNoFile -7
#define PvmDenied -8
#define PvmNoMem -10
#define PvmBadMsg -12
#define PvmSysErr -14
#define PvmNoBuf -15
#define PvmNoSuchBuf -16
#define PvmNullGroup -17
#define PvmDupGroup -18
#define PvmNoGroup -19
#define PvmNotInGroup -20
#define PvmNoInst -21
#define PvmHostFail -22
#define PvmNoParent -23
#define PvmNotImpl -24
#define PvmDSysErr -25
#define PvmBadVersion -26
#define PvmOutOfRes -27
#define PvmDupHost -28
#define PvmCantStart -29
#define PvmAlready -30
#define PvmNoTask -31
#define PvmNotFound -32
#define PvmExists -33
#define PvmHostrNMstr -34
#define PvmParentNotSet -35
#define PvmIPLoopback -36

#define PvmNoEntry PvmNotFound
#define PvmDupEntry PvmDenied

/* Kinds of numbers in arrays. */
#define PVM_STR 0
#define PVM_BYTE 1
#define PVM_SHORT 2
#define PVM_INT 3
#define PVM_FLOAT 4
#define PVM_CPLX 5
#define PVM_DOUBLE 6
#define PVM_DCPLX 7
#define PVM_LONG 8
#define PVM_USHORT 9
#define PVM_UINT 10
#define PVM_ULONG 11

struct pvmhostinfo {
	int hi_tid;
	char *hi_name;
	char *hi_arch;
	int hi_speed;
	int hi_dsig; /* the number representation of this kind of machine */
};

struct pvmtaskinfo {
	int ti_tid;
	int ti_ptid;
	int ti_host;
	int ti_flag;
	char *ti_a_out;
	int ti_pid;
};

struct pvmminfo {
	int len;
	int ctx;
	int tag;
	int wid;
	int enc;
	int crc;
	int src;
	int dst;
};

struct pvmmboxinfo {
	char *mi_name;
	int mi_nentries;
	int *mi_indices;
	int *mi_owners;
	int *mi_flags;
};

#ifdef __cplusplus
extern "C" {
#endif

/* This task and others. */
int pvm_mytid(void);
int pvm_parent(void);
int pvm_exit(void);
int pvm_spawn(char *program, char **arguments, int flags, char *where, int count, int *tids);
int pvm_kill(int tid);
int pvm_sendsig(int tid, int signal);
int pvm_siblings(int **tids);
int pvm_pstat(int tid);
int pvm_tasks(int where, int *count, struct pvmtaskinfo **tasks);
int pvm_notify(int what, int tag, int count, int *tids);
int pvm_export(char *variable);
int pvm_unexport(char *variable);
int pvm_getopt(int option);
int pvm_setopt(int option, int value);
int pvm_perror(char *text);
char *pvm_strerror(void);
char *pvm_version(void);
#if defined(EOF)
int pvm_catchout(FILE *file);
#endif

/* The machine and its hosts. */
int pvm_start_pvmd(int count, char **arguments, int block);
int pvm_halt(void);
int pvm_config(int *count, int *kinds, struct pvmhostinfo **hosts);
int pvm_addhosts(char **names, int count, int *results);
int pvm_delhosts(char **names, int count, int *results);
int pvm_mstat(char *host);
int pvm_tidtohost(int tid);
int pvm_hostsync(int host, struct timeval *time, struct timeval *ahead);
int pvm_archcode(char *arch);
int pvm_getfds(int **descriptors);
int pvm_getnoresets(int **tids, int *count);
int pvm_reg_hoster(void);
int pvm_reg_rm(struct pvmhostinfo **hosts);
int pvm_reg_tasker(void);
int pvm_reg_tracer(int context, int tag, int output_context, int output_tag, char *mask, int buffer, int options);
int pvm_tickle(int count, int *arguments, int *result_count, int *results);
char *pvmgetrsh(void);
char *pvmgettmp(void);

/* Buffers. */
int pvm_mkbuf(int encoding);
int pvm_freebuf(int buffer);
int pvm_initsend(int encoding);
int pvm_getsbuf(void);
int pvm_getrbuf(void);
int pvm_setsbuf(int buffer);
int pvm_setrbuf(int buffer);
int pvm_bufinfo(int buffer, int *bytes, int *tag, int *tid);
int pvm_getminfo(int buffer, struct pvmminfo *info);
int pvm_setminfo(int buffer, struct pvmminfo *info);

/* Packing. */
int pvm_packf(const char *format, ...);
int pvm_pkbyte(char *array, int count, int stride);
int pvm_pkcplx(float *array, int count, int stride);
int pvm_pkdcplx(double *array, int count, int stride);
int pvm_pkdouble(double *array, int count, int stride);
int pvm_pkfloat(float *array, int count, int stride);
int pvm_pkint(int *array, int count, int stride);
int pvm_pklong(long *array, int count, int stride);
int pvm_pkshort(short *array, int count, int stride);
int pvm_pkuint(unsigned int *array, int count, int stride);
int pvm_pkulong(unsigned long *array, int count, int stride);
int pvm_pkushort(unsigned short *array, int count, int stride);
int pvm_pkstr(char *text);
int pvm_pkmesg(int buffer);
int pvm_pkmesgbody(int buffer);

/* Unpacking. */
int pvm_unpackf(const char *format, ...);
int pvm_upkbyte(char *array, int count, int stride);
int pvm_upkcplx(float *array, int count, int stride);
int pvm_upkdcplx(double *array, int count, int stride);
int pvm_upkdouble(double *array, int count, int stride);
int pvm_upkfloat(float *array, int count, int stride);
int pvm_upkint(int *array, int count, int stride);
int pvm_upklong(long *array, int count, int stride);
int pvm_upkshort(short *array, int count, int stride);
int pvm_upkuint(unsigned int *array, int count, int stride);
int pvm_upkulong(unsigned long *array, int count, int stride);
int pvm_upkushort(unsigned short *array, int count, int stride);
int pvm_upkstr(char *text);
int pvm_upkmesg(void);

/* Messages. */
int pvm_send(int tid, int tag);
int pvm_mcast(int *tids, int count, int tag);
int pvm_recv(int tid, int tag);
int pvm_nrecv(int tid, int tag);
int pvm_trecv(int tid, int tag, struct timeval *time);
int pvm_probe(int tid, int tag);
int pvm_psend(int tid, int tag, void *array, int count, int kind);
int pvm_precv(int tid, int tag, void *array, int count, int kind, int *its_tid, int *its_tag, int *its_length);
int (*pvm_recvf(int (*matches)(int buffer, int tid, int tag)))(int, int, int);
int pvm_addmhf(int tid, int tag, int context, int (*handler)(int buffer));
int pvm_delmhf(int handler);
int pvm_newcontext(void);
int pvm_freecontext(int context);
int pvm_getcontext(void);
int pvm_setcontext(int context);

/* Groups. */
int pvm_joingroup(char *group);
int pvm_lvgroup(char *group);
int pvm_freezegroup(char *group, int size);
int pvm_gsize(char *group);
int pvm_gettid(char *group, int instance);
int pvm_getinst(char *group, int tid);
int pvm_barrier(char *group, int count);
int pvm_bcast(char *group, int tag);
int pvm_reduce(void (*combine)(int *kind, void *into, void *other, int *count, int *status), void *array, int count,
               int kind, int tag, char *group, int root);
int pvm_gather(void *result, void *array, int count, int kind, int tag, char *group, int root);
int pvm_scatter(void *result, void *array, int count, int kind, int tag, char *group, int root);
void PvmMax(int *kind, void *into, void *other, int *count, int *status);
void PvmMin(int *kind, void *into, void *other, int *count, int *status);
void PvmSum(int *kind, void *into, void *other, int *count, int *status);
void PvmProduct(int *kind, void *into, void *other, int *count, int *status);

/* Mailbox. */
int pvm_putinfo(char *name, int buffer, int flags);
int pvm_recvinfo(char *name, int index, int flags);
int pvm_delinfo(char *name, int index, int flags);
int pvm_getmboxinfo(char *pattern, int *count, struct pvmmboxinfo **classes);

/* Names of PVM 3.3. */
#ifdef PVM33COMPAT
int pvm_getmwid(int buffer);
int pvm_setmwid(int buffer, int wait_id);
#endif
int pvm_insert(char *name, int index, int number);
int pvm_lookup(char *name, int index, int *number);
int pvm_delete(char *name, int index);

#ifdef __cplusplus
}
#endif

#endif
