/* The daemon has a warden, a process that waits until the leader stops the machine or is gone, in whatever way, and then ends
 * the daemon and removes the folder:
 *
 *     leader ──pipe, never written──▶ warden ──fork──▶ pvmd
 *        ◀───────────── its process and socket, when it is ready ──┘
 *
 * Where a warden is killed too, its folder stays, and the next leader removes it: the folder's name holds the process of the
 * leader that it was for. */
#include "machine.h"
#include "members.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROOT "/usr/lib/pvm3" /* Debian's; PVM_ROOT names another */
#define FOLDER "antiphon-pvm-"
#define START_LIMIT_MS 10000
#define END_LIMIT_MS 2000

static char folder[256];
static pid_t warden;
static int warden_pipe; /* the leader's end: its closing is the order to stop */

/* The folder ------------------------------------------------------------------------------------------------------------ */

static const char *temporary(void)
{
    const char *named = getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

/* PVM makes no folders in it. */
static void remove_folder(const char *path)
{
    struct dirent *entry;
    DIR *listing = opendir(path);
    while (listing && (entry = readdir(listing)))
        unlinkat(dirfd(listing), entry->d_name, 0);
    if (listing)
        closedir(listing);
    rmdir(path);
}

static bool is_own_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == getuid();
}

/* Those of leaders that are no more. */
static void remove_stale_folders(void)
{
    char path[512];
    struct dirent *entry;
    DIR *listing = opendir(temporary());
    while (listing && (entry = readdir(listing))) {
        if (strncmp(entry->d_name, FOLDER, sizeof FOLDER - 1) != 0)
            continue;
        pid_t leader = (pid_t)strtol(entry->d_name + sizeof FOLDER - 1, NULL, 10);
        snprintf(path, sizeof path, "%s/%s", temporary(), entry->d_name);
        if (leader > 0 && (leader == getpid() || (kill(leader, 0) != 0 && errno == ESRCH)) && is_own_folder(path))
            remove_folder(path);
    }
    if (listing)
        closedir(listing);
}

/* With a file that tells the daemon where Debian keeps the server of groups. */
static void make_folder(void)
{
    char path[512];
    remove_stale_folders();
    int length = snprintf(folder, sizeof folder, "%s/" FOLDER "%d", temporary(), (int)getpid());
    if (length >= (int)sizeof folder - 32) /* the daemon's socket must have room in a socket's address */
        member_fail("TMPDIR is too long for PVM: %s", temporary());
    if (mkdir(folder, 0700) != 0)
        member_fail("%s: %s; set TMPDIR to a folder that can be written to", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/hosts", folder);
    FILE *hosts = fopen(path, "w");
    if (!hosts || fprintf(hosts, "* ep=%s/lib\nlocalhost\n", getenv("PVM_ROOT")) < 0 || fclose(hosts) != 0)
        member_fail("%s: %s", path, strerror(errno));
}

/* The daemon ------------------------------------------------------------------------------------------------------------ */

/* Its first line is its process, the next one, when it is ready, where it listens. */
_Noreturn static void become_daemon(int told, pid_t parent)
{
    char hosts[512];
    const int nothing = open("/dev/null", O_RDONLY);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    snprintf(hosts, sizeof hosts, "%s/hosts", folder);
    dup2(nothing, STDIN_FILENO);
    dup2(told, STDOUT_FILENO);
    dprintf(STDOUT_FILENO, "%d\n", (int)getpid());
    execlp("pvmd", "pvmd", "-nlocalhost", hosts, (char *)NULL);
    member_fail("pvmd: %s", strerror(errno));
}

/* A daemon that ends looks again and again whether its tasks have ended: under FIFO it would keep them, and us, from the processor for ever. */
static void end_daemon(pid_t daemon)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    const struct sched_param none = {.sched_priority = 0};
    sched_setscheduler(daemon, SCHED_OTHER, &none);
    kill(daemon, SIGTERM);
    for (int waited_ms = 0; waited_ms < END_LIMIT_MS; waited_ms += 2) {
        if (waitpid(daemon, NULL, WNOHANG) != 0)
            return;
        nanosleep(&pause, NULL);
    }
    kill(daemon, SIGKILL);
    waitpid(daemon, NULL, 0);
}

/* Ctrl-C goes to the leader as well, whose end it waits for. */
_Noreturn static void become_warden(int leader, int told)
{
    char none;
    pid_t self = getpid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    pid_t daemon = fork();
    if (daemon == 0)
        become_daemon(told, self);
    close(told);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* whoever reads the leader's answers must see their end */
    while (daemon > 0 && read(leader, &none, 1) < 0 && errno == EINTR)
        continue;
    if (daemon > 0)
        end_daemon(daemon);
    remove_folder(folder);
    _exit(EXIT_SUCCESS);
}

/* What the daemon tells, up to the end of its second line. */
static void hear_daemon(int told, char *text, size_t bytes)
{
    size_t length = 0;
    struct pollfd more = {.fd = told, .events = POLLIN};
    text[0] = '\0';
    while (!strchr(text, '\n') || !strchr(strchr(text, '\n') + 1, '\n')) {
        ssize_t got = poll(&more, 1, START_LIMIT_MS) > 0 ? read(told, text + length, bytes - 1 - length) : -1;
        if (got <= 0)
            member_fail("pvmd did not start within %d s; what it said is above", START_LIMIT_MS / 1000);
        length += (size_t)got;
        text[length] = '\0';
    }
}

pid_t machine_start(void)
{
    int order[2], told[2];
    char text[1024];
    setenv("PVM_ROOT", ROOT, 0);
    setenv("PVM_ALLOW_ROOT", "1", 1); /* it says no to root otherwise */
    make_folder();
    setenv("PVM_TMP", folder, 1);
    if (pipe2(order, O_CLOEXEC) != 0 || pipe2(told, O_CLOEXEC) != 0 || (warden = fork()) < 0)
        member_fail("the daemon cannot be started: %s", strerror(errno));
    if (warden == 0) {
        close(order[1]);
        become_warden(order[0], told[1]);
    }
    close(order[0]);
    close(told[1]);
    warden_pipe = order[1];
    hear_daemon(told[0], text, sizeof text);
    close(told[0]);
    return (pid_t)strtol(text, NULL, 10);
}

void machine_stop(void)
{
    close(warden_pipe);
    waitpid(warden, NULL, 0);
}
