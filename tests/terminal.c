#include "tests/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include <cmocka.h>
#include <vterm.h>

#include "protocols/clock.h"
#include "tui/text.h"

struct terminal {
    pid_t pid;
    int fd;
    bool ended;
    int status;
    struct termios before;
    VTerm *model;
    VTermScreen *screen;
    int width, height;
    size_t written;
    bool alternate, hidden_cursor, mouse, paste;
    char tail[16]; /* the last bytes of output, for sequences the model does not keep */
    size_t tail_used;
};

/* The model ----------------------------------------------------------------------- */

static int on_property(VTermProp property, VTermValue *value, void *user)
{
    struct terminal *t = user;

    if (property == VTERM_PROP_ALTSCREEN)
        t->alternate = value->boolean;
    else if (property == VTERM_PROP_CURSORVISIBLE)
        t->hidden_cursor = !value->boolean;
    else if (property == VTERM_PROP_MOUSE)
        t->mouse = value->number != VTERM_PROP_MOUSE_NONE;
    return 1;
}

/* Answers of the model to the program's questions (device attributes and the like). */
static void on_answer(const char *bytes, size_t len, void *user)
{
    struct terminal *t = user;

    if (write(t->fd, bytes, len) < 0)
        return; /* the program has gone */
}

static void make_model(struct terminal *t)
{
    static const VTermScreenCallbacks callbacks = {.settermprop = on_property};

    t->model = vterm_new(t->height, t->width);
    assert_non_null(t->model);
    vterm_set_utf8(t->model, 1);
    vterm_output_set_callback(t->model, on_answer, t);
    t->screen = vterm_obtain_screen(t->model);
    vterm_screen_enable_altscreen(t->screen, 1);
    vterm_screen_set_callbacks(t->screen, &callbacks, t);
    vterm_screen_reset(t->screen, 1);
}

/* Bracketed paste is not a property of this model: watch for its switch. */
static void watch_paste(struct terminal *t, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (t->tail_used == sizeof(t->tail)) {
            memmove(t->tail, t->tail + 1, sizeof(t->tail) - 1);
            t->tail_used--;
        }
        t->tail[t->tail_used++] = bytes[i];
        if (t->tail_used < 8 || memcmp(t->tail + t->tail_used - 8, "\033[?2004", 7) != 0)
            continue;
        t->paste = bytes[i] == 'h';
    }
}

/* The private terminfo entry -------------------------------------------------------- */

static const char *entry_directory(void)
{
    const char *build = getenv("PLIMSOLL_BUILD");
    static char path[256]; /* the same for every terminal of a program */

    snprintf(path, sizeof(path), "%s/tests/terminals", build != NULL ? build : "build");
    return path;
}

static void make_entry(const char *term)
{
    char command[1024], compiled[512];
    struct stat st;

    snprintf(compiled, sizeof(compiled), "%s/%c/%s", entry_directory(), term[0], term);
    if (stat(compiled, &st) == 0)
        return;
    snprintf(
        command, sizeof(command),
        "mkdir -p '%s' && infocmp -x -1 '%s' 2>/dev/null | grep -vE '^.(rep|sc|rc)=' | "
        "tic -x -o '%s' - 2>/dev/null",
        entry_directory(), term, entry_directory());
    if (system(command) != 0)
        return; /* an unknown terminal: that is what the test is about */
}

/* Start and end --------------------------------------------------------------------- */

static bool is_named(const char *const env[], const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; env[i] != NULL; i++)
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=')
            return true;
    return false;
}

static const char *value_in(const char *const env[], const char *name,
                            const char *fallback)
{
    size_t n = strlen(name);

    for (size_t i = 0; env[i] != NULL; i++)
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=')
            return env[i] + n + 1;
    return fallback;
}

/* Runs in the child. Absolute, since the program may be started elsewhere. */
static void make_environment(const char *const env[])
{
    char entries[512], here[256];

    if (getcwd(here, sizeof(here)) == NULL)
        here[0] = '\0';
    if (entry_directory()[0] == '/')
        snprintf(entries, sizeof(entries), "%s:", entry_directory());
    else
        snprintf(entries, sizeof(entries), "%s/%s:", here, entry_directory());
    for (const char *const *gone = (const char *const[]){"NO_COLOR", "COLORFGBG", "LANG",
                                                         "LC_CTYPE", "TERMINFO", NULL};
         *gone != NULL; gone++)
        unsetenv(*gone);
    setenv("TERMINFO_DIRS", entries, 1);
    if (!is_named(env, "TERM"))
        setenv("TERM", "xterm-256color", 1);
    if (!is_named(env, "LC_ALL"))
        setenv("LC_ALL", "C.UTF-8", 1);
    for (size_t i = 0; env[i] != NULL; i++)
        putenv((char *)(uintptr_t)env[i]);
}

struct terminal *terminal_start(const char *const argv[], int width, int height,
                                const char *const env[])
{
    static const char *const none[] = {NULL};
    struct winsize size = {.ws_row = (unsigned short)height,
                           .ws_col = (unsigned short)width};
    struct terminal *t = calloc(1, sizeof(*t));
    int slave;

    assert_non_null(t);
    env = env != NULL ? env : none;
    make_entry(value_in(env, "TERM", "xterm-256color"));
    t->width = width;
    t->height = height;
    make_model(t);
    assert_int_equal(openpty(&t->fd, &slave, NULL, NULL, &size), 0);
    /* Before the program can change it. */
    assert_int_equal(tcgetattr(t->fd, &t->before), 0);
    fcntl(t->fd, F_SETFD, FD_CLOEXEC);
    t->pid = fork();
    assert_true(t->pid >= 0);
    if (t->pid == 0) {
        if (login_tty(slave) < 0)
            _exit(127);
        make_environment(env);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        fprintf(stderr, "cannot start %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    close(slave);
    return t;
}

static void note_end(struct terminal *t)
{
    if (!t->ended && waitpid(t->pid, &t->status, WNOHANG) == t->pid)
        t->ended = true;
}

void terminal_free(struct terminal *t)
{
    note_end(t);
    if (!t->ended) {
        kill(t->pid, SIGCONT);
        kill(t->pid, SIGKILL);
        waitpid(t->pid, &t->status, 0);
    }
    if (t->fd >= 0)
        close(t->fd);
    vterm_free(t->model);
    free(t);
}

pid_t terminal_pid(const struct terminal *t)
{
    return t->pid;
}

int terminal_fd(const struct terminal *t)
{
    return t->fd;
}

/* Input ----------------------------------------------------------------------------- */

void terminal_type(struct terminal *t, const char *keys)
{
    size_t len = strlen(keys);

    assert_int_equal(write(t->fd, keys, len), len);
}

void terminal_hang_up(struct terminal *t)
{
    close(t->fd);
    t->fd = -1;
}

void terminal_resize(struct terminal *t, int width, int height)
{
    struct winsize size = {.ws_row = (unsigned short)height,
                           .ws_col = (unsigned short)width};

    terminal_pump(t, 0);
    t->width = width;
    t->height = height;
    vterm_set_size(t->model, height, width);
    assert_int_equal(ioctl(t->fd, TIOCSWINSZ, &size), 0);
}

/* Output ---------------------------------------------------------------------------- */

/* One read; false when there was nothing within wait_ms, or no more will come. */
static bool pump_once(struct terminal *t, int wait_ms)
{
    struct pollfd p = {.fd = t->fd, .events = POLLIN};
    char bytes[16384];
    ssize_t n;

    if (t->fd < 0) {
        usleep((useconds_t)wait_ms * 1000u);
        return false;
    }
    if (poll(&p, 1, wait_ms) <= 0)
        return false;
    n = read(t->fd, bytes, sizeof(bytes));
    if (n <= 0)
        return false;
    t->written += (size_t)n;
    watch_paste(t, bytes, (size_t)n);
    vterm_input_write(t->model, bytes, (size_t)n);
    return true;
}

void terminal_pump(struct terminal *t, int wait_ms)
{
    while (pump_once(t, wait_ms))
        wait_ms = 0;
}

bool terminal_settle(struct terminal *t)
{
    uint64_t give_up = now_ns() + TERMINAL_WAIT_MS * NS_PER_MS;

    while (pump_once(t, SETTLE_MS))
        if (now_ns() > give_up)
            return false;
    return true;
}

int terminal_find(struct terminal *t, const char *text, int *column)
{
    char *screen = terminal_text(t), *line = screen, *next, *at;
    int row = -1;

    for (int y = 0; line != NULL && row < 0; y++, line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        at = strstr(line, text);
        if (at == NULL)
            continue;
        row = y;
        *at = '\0';
        if (column != NULL)
            *column = text_columns(line);
    }
    free(screen);
    return row;
}

static bool wait_for(struct terminal *t, const char *text, bool wanted, int wait_ms)
{
    uint64_t give_up = now_ns() + (uint64_t)wait_ms * NS_PER_MS;

    while ((terminal_find(t, text, NULL) >= 0) != wanted) {
        if (now_ns() > give_up)
            return false;
        if (!pump_once(t, 20)) {
            note_end(t);
            if (t->ended && !pump_once(t, 0))
                return (terminal_find(t, text, NULL) >= 0) == wanted;
        }
    }
    return true;
}

static void show(struct terminal *t, const char *complaint, const char *text)
{
    char *screen = terminal_text(t);

    fprintf(stderr, "%s \"%s\"; on the screen:\n%s---\n", complaint, text, screen);
    free(screen);
}

bool terminal_sees_within(struct terminal *t, const char *text, int wait_ms)
{
    return wait_for(t, text, true, wait_ms);
}

bool terminal_sees(struct terminal *t, const char *text)
{
    uint64_t give_up = now_ns() + TERMINAL_WAIT_MS * NS_PER_MS;

    /* What was there for a moment may be gone when all is silent: then wait on. */
    do {
        if (wait_for(t, text, true, TERMINAL_WAIT_MS) && terminal_settle(t) &&
            terminal_find(t, text, NULL) >= 0)
            return true;
    } while (now_ns() < give_up && !t->ended);
    show(t, "did not see", text);
    return false;
}

bool terminal_lost(struct terminal *t, const char *text)
{
    if (wait_for(t, text, false, TERMINAL_WAIT_MS) && terminal_settle(t))
        return true;
    show(t, "still see", text);
    return false;
}

int terminal_wait_end(struct terminal *t, int wait_ms)
{
    uint64_t give_up = now_ns() + (uint64_t)wait_ms * NS_PER_MS;

    for (;;) {
        /* A program that writes must not wait for a reader, or it would never end. */
        terminal_pump(t, 10);
        note_end(t);
        if (t->ended) {
            /* What it wrote last may still be on its way through the line discipline;
             * after it comes the end of the terminal, which ends the reading at once. */
            while (pump_once(t, SETTLE_MS))
                continue;
            return t->status;
        }
        if (now_ns() > give_up)
            return -1;
    }
}

/* Looking --------------------------------------------------------------------------- */

static short palette_index(const VTermColor *colour)
{
    if (VTERM_COLOR_IS_DEFAULT_FG(colour) || VTERM_COLOR_IS_DEFAULT_BG(colour))
        return -1;
    return VTERM_COLOR_IS_INDEXED(colour) ? (short)colour->indexed.idx : -2;
}

struct terminal_cell terminal_cell(const struct terminal *t, int x, int y)
{
    struct terminal_cell cell = {' ', -1, -1, 0};
    VTermScreenCell seen;

    if (!vterm_screen_get_cell(t->screen, (VTermPos){.row = y, .col = x}, &seen))
        return cell;
    cell.code = seen.chars[0] == 0 ? ' ' : seen.chars[0];
    if (seen.chars[0] == UINT32_MAX)
        cell.code = 0;
    cell.text = palette_index(&seen.fg);
    cell.ground = palette_index(&seen.bg);
    cell.attributes = (seen.attrs.bold ? ATTR_BOLD : 0u) |
                      (seen.attrs.underline ? ATTR_UNDERLINE : 0u) |
                      (seen.attrs.reverse ? ATTR_REVERSE : 0u);
    return cell;
}

int terminal_width(const struct terminal *t)
{
    return t->width;
}

int terminal_height(const struct terminal *t)
{
    return t->height;
}

void terminal_picture(const struct terminal *t, struct picture *p)
{
    const struct theme *dark = theme_find("dark");

    assert_int_equal(picture_init(p, t->width, t->height, theme_own_text(dark),
                                  theme_own_ground(dark)),
                     0);
    for (int y = 0; y < t->height; y++)
        for (int x = 0; x < t->width; x++) {
            struct terminal_cell cell = terminal_cell(t, x, y);

            picture_set(p, x, y, cell.code, cell.text, cell.ground, cell.attributes);
        }
}

char *terminal_text(const struct terminal *t)
{
    struct picture p;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    terminal_picture(t, &p);
    picture_write_text(&p, out);
    picture_done(&p);
    assert_int_equal(fclose(out), 0);
    return text;
}

bool terminal_is_restored(const struct terminal *t, const char **why)
{
    struct termios now;

    *why = NULL;
    if (t->alternate)
        *why = "the alternate screen is still shown";
    else if (t->hidden_cursor)
        *why = "the cursor is still hidden";
    else if (t->mouse)
        *why = "the mouse is still reported";
    else if (t->paste)
        *why = "pastes are still bracketed";
    else if (tcgetattr(t->fd, &now) == 0 &&
             (now.c_lflag != t->before.c_lflag || now.c_iflag != t->before.c_iflag ||
              now.c_oflag != t->before.c_oflag))
        *why = "the line discipline is changed";
    return *why == NULL;
}

size_t terminal_written(const struct terminal *t)
{
    return t->written;
}
