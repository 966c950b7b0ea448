#include "tui/rescue.h"

#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "protocols/array.h"
#include "tui/terminfo.h"

/*
 * All that the handler can reach: the bytes that restore the screen, and the line
 * discipline of before. The one mutable global of the program, since a signal handler
 * has no argument.
 */
static struct {
    char bytes[256];
    size_t len;
    struct termios line;
    volatile sig_atomic_t armed;
} rescue;

static const int fatal_signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
#define FATAL_SIGNALS (NUMBER_OF(fatal_signals))

static void on_fatal(int number)
{
    if (rescue.armed) {
        rescue.armed = 0;
        if (write(STDOUT_FILENO, rescue.bytes, rescue.len) < 0)
            rescue.len = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &rescue.line);
    }
    /* The handler was reset by SA_RESETHAND: this time the default action is taken. */
    raise(number);
}

/* Append a capability without its padding ("$<5>"): nobody can wait in a handler. */
static void add_bytes(const char *s)
{
    if (!s)
        return;
    for (; *s != '\0' && rescue.len < sizeof(rescue.bytes); s++) {
        const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;

        if (end)
            s = end;
        else
            rescue.bytes[rescue.len++] = *s;
    }
}

void rescue_keep_line(void)
{
    tcgetattr(STDIN_FILENO, &rescue.line);
}

void rescue_install(const char *first)
{
    struct sigaction action = {.sa_handler = on_fatal,
                               .sa_flags = SA_RESETHAND | SA_NODEFER};

    rescue.len = 0;
    add_bytes(first);
    add_bytes(terminfo_string("sgr0"));
    add_bytes(terminfo_string("op"));
    add_bytes(terminfo_string("rmkx"));
    add_bytes(terminfo_string("cnorm"));
    add_bytes(terminfo_string("rmcup"));
    rescue.armed = 1;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < FATAL_SIGNALS; i++)
        sigaction(fatal_signals[i], &action, NULL);
}

void rescue_remove(void)
{
    rescue.armed = 0;
    for (size_t i = 0; i < FATAL_SIGNALS; i++)
        signal(fatal_signals[i], SIG_DFL);
}

void rescue_disarm(void)
{
    rescue.armed = 0;
}

void rescue_arm(void)
{
    rescue.armed = 1;
}
