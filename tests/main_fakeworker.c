/*
 * A worker that does as its script says, to show what the engine makes of a worker that
 * misbehaves. It is put in a worker's place as a launcher:
 *
 *   --client-launch "build/tests/fakeworker 'ready x; wait start; die 9'"
 *
 * The script's steps are separated by ';':
 *
 *   ready ENDPOINT  sample N   done OUTCOME N  fail SENTENCE   messages, N operations
 *   say TEXT        bytes to standard output as they are, and a newline
 *   tell TEXT       the same to standard error; `flood` fills it without a newline
 *   huge            a line longer than any worker may write
 *   wait TYPE       read until a message of that type; `wait end`: until the end of input
 *   obey ERRNO I    take every value (`set`) until a `stop` comes, and say which in a
 * note; the client of index I refuses with ERRNO deaf            ignore SIGTERM from now
 * on silent          stop for ever, deaf to SIGTERM and the end of input pause stop for
 * ever, but SIGTERM ends it close           close standard output (and error), live on
 *   orphan          leave a child behind that holds the output and is deaf to SIGTERM
 *   stray           the same, but in a session of its own
 *   die SIGNAL      exit STATUS
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOUND_S 60 /* a forgotten one ends by itself */

static bool starts(const char *step, const char *verb, const char **rest)
{
    size_t len = strlen(verb);

    if (strncmp(step, verb, len) != 0 || (step[len] && step[len] != ' '))
        return false;
    *rest = step + len + (step[len] == ' ');
    return true;
}

static bool is_of_type(const char *line, const char *type)
{
    char wanted[64];

    snprintf(wanted, sizeof(wanted), "\"type\":\"%s\"", type);
    return strstr(line, wanted) != NULL;
}

/* The number behind `"name":`, -1 without one. */
static long number_of(const char *line, const char *name)
{
    char wanted[64];
    const char *at;

    snprintf(wanted, sizeof(wanted), "\"%s\":", name);
    at = strstr(line, wanted);
    return at ? strtol(at + strlen(wanted), NULL, 10) : -1;
}

/* Read until a message of the type, for the index that hello says; false at the end. */
static bool wait_for(const char *type, long *index)
{
    char line[1 << 16];

    while (fgets(line, sizeof(line), stdin)) {
        if (is_of_type(line, "hello"))
            *index = number_of(line, "index");
        if (is_of_type(line, type))
            return true;
    }
    return false;
}

static void obey(int err)
{
    char line[1 << 16];

    while (fgets(line, sizeof(line), stdin) && !is_of_type(line, "stop"))
        if (is_of_type(line, "set")) {
            printf("{\"type\":\"note\",\"text\":\"set %ld\"}\n"
                   "{\"type\":\"set\",\"errno\":%d}\n",
                   number_of(line, "value"), err);
            fflush(stdout);
        }
}

static void say_counts(const char *type, const char *outcome, const char *n)
{
    printf("{\"type\":\"%s\",\"outcome\":\"%s\",\"reason\":\"as told\","
           "\"at_ns\":100000000,\"span_ns\":100000000,\"attempted\":%s,"
           "\"succeeded\":%s,\"sent_messages\":%s,\"received_messages\":%s,"
           "\"cpu_user_us\":1000,\"open_descriptors\":7,\"hists\":{}}\n",
           type, outcome, n, n, n, n);
}

static _Noreturn void stop_for_ever(void)
{
    for (;;)
        pause();
}

/* Returns when the child is what it shall be: deaf, and in a session of its own. */
static void leave_child(bool session)
{
    int set_up[2];
    char byte;
    pid_t pid;

    if (pipe(set_up) < 0)
        return;
    pid = fork();
    if (pid == 0) {
        alarm(BOUND_S);
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        if (session)
            setsid();
        close(set_up[0]);
        close(set_up[1]);
        stop_for_ever();
    }
    close(set_up[1]);
    while (read(set_up[0], &byte, 1) > 0)
        ;
    close(set_up[0]);
}

static void write_many(int fd, char byte, size_t count)
{
    char block[4096];

    memset(block, byte, sizeof(block));
    for (ssize_t n; count > 0; count -= (size_t)n) {
        n = write(fd, block, count < sizeof(block) ? count : sizeof(block));
        if (n <= 0)
            return;
    }
}

static void do_step(const char *step, long *index)
{
    const char *rest;
    char word[32] = "";
    char number[32] = "0";

    if (starts(step, "ready", &rest))
        printf("{\"type\":\"ready\",\"endpoint\":\"%s\",\"boot\":\"\",\"pid\":%ld}\n",
               rest, (long)getpid());
    else if (starts(step, "sample", &rest))
        say_counts("sample", "", rest);
    else if (starts(step, "done", &rest) && sscanf(rest, "%31s %31s", word, number) > 0)
        say_counts("done", word, number);
    else if (starts(step, "fail", &rest))
        printf("{\"type\":\"fail\",\"errno\":5,\"step\":\"x\",\"sentence\":\"%s\"}\n",
               rest);
    else if (starts(step, "say", &rest))
        puts(rest);
    else if (starts(step, "tell", &rest))
        fprintf(stderr, "%s\n", rest);
    else if (starts(step, "flood", &rest))
        write_many(STDERR_FILENO, 'x', 300000);
    else if (starts(step, "huge", &rest))
        write_many(STDOUT_FILENO, 'x', 20u << 20);
    else if (starts(step, "wait end", &rest))
        wait_for("no such type", index);
    else if (starts(step, "wait", &rest) && !wait_for(rest, index))
        exit(9); /* the engine has left */
    else if (starts(step, "obey", &rest) && sscanf(rest, "%31s %31s", number, word) == 2)
        obey(atol(word) == *index ? atoi(number) : 0);
    else if (starts(step, "deaf", &rest))
        signal(SIGTERM, SIG_IGN);
    else if (starts(step, "silent", &rest) || starts(step, "pause", &rest)) {
        signal(SIGTERM, *step == 's' ? SIG_IGN : SIG_DFL);
        stop_for_ever();
    } else if (starts(step, "close", &rest)) {
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        close(STDIN_FILENO);
    } else if (starts(step, "orphan", &rest))
        leave_child(false);
    else if (starts(step, "stray", &rest))
        leave_child(true);
    else if (starts(step, "die", &rest))
        raise(atoi(rest));
    else if (starts(step, "exit", &rest))
        _exit(atoi(rest));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char *rest = argc > 1 ? argv[1] : NULL;
    long index = -1;

    alarm(BOUND_S);
    for (char *step; (step = strsep(&rest, ";"));)
        do_step(step + strspn(step, " "), &index);
    return 0;
}
