/*
 * Run a command and append one line to a file: wall seconds, CPU seconds (user and
 * system, of the command and its children), largest resident set in KiB.
 *
 *   measure FILE COMMAND [ARGUMENT ...]
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/clock.h"

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    uint64_t begun_ns = now_ns();
    struct rusage use;
    int status = 1;
    pid_t pid;
    FILE *f;

    if (argc < 3)
        return 2;
    pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &use) < 0)
        return 1;
    f = fopen(argv[1], "a");
    if (!f)
        return 1;
    fprintf(f, "%.6f %.6f %ld\n", (double)(now_ns() - begun_ns) / 1e9,
            seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_maxrss);
    fclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
