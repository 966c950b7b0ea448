#include "tui/display.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "protocols/array.h"
#include "tui/rescue.h"
#include "tui/terminfo.h"
#include "tui/text.h"

#define ESCAPE_WAIT_MS 25
#define FRAME_BYTES (4 << 20) /* more than the largest frame takes */
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define MOUSE_OFF "\033[?1006l\033[?1002l\033[?1000l"
/* Key codes of our own for the brackets of a paste, beyond what terminals send. */
#define KEY_PASTE_BEGIN (KEY_MAX + 1)
#define KEY_PASTE_END (KEY_MAX + 2)

struct display {
    SCREEN *screen;
    FILE *out;    /* what curses writes to: the terminal, or during a frame frame_fd */
    int frame_fd; /* a file in memory; -1: there is none, curses writes to the terminal */
    const char *term;
    bool has_mouse;
    bool mouse_reports; /* there may be more events than were read */
    int colours;
    struct canvas shown; /* what curses was given; cells only */
    const struct theme *theme;
    bool forgotten;
    /* Pair of each combination of paints with the theme: 0 not made yet. */
    short pairs[PAINT_COUNT][PAINT_COUNT];
    int next_pair;
};

/* Open and close. */

static void display_write_out(const char *bytes)
{
    /* Only switches of comfort are written so: a terminal that has gone needs none. */
    if (write(STDOUT_FILENO, bytes, strlen(bytes)) < 0)
        return;
}

/* A limit on files (ulimit -f) holds for those in memory as well. */
static bool may_write(rlim_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes);
}

/*
 * curses writes after each move of the cursor, some fifty times a frame. It fills a
 * file in memory instead, so that a frame reaches the terminal in one piece: less work
 * for both ends, and no half of a frame is ever seen.
 */
static int open_output(struct display *d)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

    d->out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!d->out) {
        if (fd >= 0)
            close(fd);
        return -EMFILE;
    }
    d->frame_fd =
        may_write(FRAME_BYTES) ? memfd_create("plimsoll-frame", MFD_CLOEXEC) : -1;
    return 0;
}

static void close_output(struct display *d)
{
    if (d->frame_fd >= 0)
        close(d->frame_fd);
    fclose(d->out);
}

/*
 * Ctrl-S is no stop of the output here: it would hold up the console in the middle of a
 * frame, and with it the run that it drives and records.
 */
static void forget_flow_control(void)
{
    struct termios line;

    if (tcgetattr(STDIN_FILENO, &line) < 0)
        return;
    line.c_iflag &= ~(tcflag_t)(IXON | IXOFF);
    tcsetattr(STDIN_FILENO, TCSANOW, &line);
    def_prog_mode(); /* what curses comes back to after Ctrl-Z */
}

static void set_modes(struct display *d)
{
    cbreak();
    noecho();
    nonl();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    set_escdelay(ESCAPE_WAIT_MS);
    curs_set(0);
    leaveok(stdscr, TRUE);
    typeahead(-1); /* a frame is drawn to its end, whatever is typed meanwhile */
    intrflush(stdscr, FALSE); /* nor does Ctrl-C throw away what is on its way */
    forget_flow_control();
    if (d->has_mouse) {
        define_key("\033[200~", KEY_PASTE_BEGIN);
        define_key("\033[201~", KEY_PASTE_END);
        mousemask(BUTTON1_CLICKED | BUTTON1_PRESSED | BUTTON1_DOUBLE_CLICKED |
                      BUTTON4_PRESSED | BUTTON5_PRESSED,
                  NULL);
        mouseinterval(0);
    }
}

static void find_colours(struct display *d)
{
    if (!has_colors() || start_color() == ERR)
        return;
    use_default_colors();
    d->colours = COLORS >= 256 ? 256 : COLORS >= 16 ? 16 : COLORS >= 8 ? 8 : 0;
}

int display_open(struct display **out, const char **advice, struct fail *fail)
{
    const char *term;
    struct display *d;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        fail_usage(
            fail, "open the terminal",
            "the console needs a terminal on standard input and output. Without one use "
            "\"plimsoll run SCENARIO\"; \"plimsoll list\" names the scenarios");
        return -ENOTTY;
    }
    term = terminfo_choose(getenv("TERM"), advice, fail);
    if (!term)
        return -ENOTSUP;
    d = calloc(1, sizeof(*d));
    if (!d)
        return fail_set(fail, ENOMEM, "open the terminal", "cannot make the display");
    d->term = term;
    canvas_init(&d->shown, glyphs_get(GLYPHS_ASCII));
    rescue_keep_line();
    if (open_output(d) < 0) {
        free(d);
        return fail_set(fail, EMFILE, "open the terminal", "cannot make the display");
    }
    d->screen = newterm(term, d->out, stdin);
    if (!d->screen) {
        close_output(d);
        free(d);
        fail_usage(fail, "open the terminal",
                   "curses cannot drive the terminal \"%.40s\"", term);
        return -ENOTSUP;
    }
    d->has_mouse = terminfo_string("kmous") != NULL;
    find_colours(d);
    rescue_install(d->has_mouse ? PASTE_OFF MOUSE_OFF : "");
    set_modes(d);
    d->next_pair = 1;
    d->forgotten = true;
    if (d->has_mouse)
        display_write_out(PASTE_ON);
    *out = d;
    return 0;
}

void display_close(struct display *d)
{
    if (!d)
        return;
    display_leave(d);
    rescue_remove();
    delscreen(d->screen);
    close_output(d);
    canvas_done(&d->shown);
    free(d);
}

void display_leave(struct display *d)
{
    if (d->has_mouse)
        display_write_out(PASTE_OFF);
    curs_set(1);
    endwin();
    rescue_disarm();
}

void display_enter(struct display *d)
{
    rescue_arm();
    refresh();
    curs_set(0);
    if (d->has_mouse)
        display_write_out(PASTE_ON);
    display_forget(d);
}

int display_colours(const struct display *d)
{
    return d->colours;
}

const char *display_term(const struct display *d)
{
    return d->term;
}

/* Output. */

bool display_measure(struct display *d, int *width, int *height)
{
    struct winsize size;
    bool changed;

    (void)d;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
        size.ws_col > 0 && (size.ws_row != LINES || size.ws_col != COLS)) {
        resizeterm(size.ws_row, size.ws_col);
        display_forget(d);
    }
    changed = *width != COLS || *height != LINES;
    *width = COLS;
    *height = LINES;
    return changed;
}

void display_forget(struct display *d)
{
    d->forgotten = true;
}

/* Colours 8 to 15 where there are only eight: the dark one, bold. */
static short reachable(const struct display *d, short colour, attr_t *attributes)
{
    if (d->colours == 8 && colour >= 8) {
        if (attributes)
            *attributes |= A_BOLD;
        return (short)(colour - 8);
    }
    return colour;
}

static short display_make_pair(struct display *d, short text, short ground)
{
    if (d->next_pair >= COLOR_PAIRS || d->next_pair >= 32767 ||
        init_pair((short)d->next_pair, text, ground) == ERR)
        return 0;
    return (short)d->next_pair++;
}

/* The pair for a style; on few pairs the ones made first have their colours. */
static short display_pair_of(struct display *d, struct style s, short text, short ground)
{
    short *pair = &d->pairs[s.paint][s.ground];

    if (text < 0 && ground < 0)
        return 0;
    if (*pair == 0)
        *pair = display_make_pair(d, text, ground);
    return *pair;
}

static attr_t to_curses(unsigned attributes)
{
    attr_t a = A_NORMAL;

    a |= attributes & ATTR_BOLD ? A_BOLD : 0;
    a |= attributes & ATTR_DIM ? A_DIM : 0;
    a |= attributes & ATTR_UNDERLINE ? A_UNDERLINE : 0;
    a |= attributes & ATTR_REVERSE ? A_REVERSE : 0;
    return a;
}

static void set_cell(struct display *d, const struct cell *cell, cchar_t *out)
{
    struct look text = theme_look(d->theme, cell->style.paint, d->colours);
    struct look ground = theme_look(d->theme, cell->style.ground, d->colours);
    attr_t a = to_curses(text.attributes | ground.attributes | cell->style.attributes);
    short colour = reachable(d, text.colour, &a);
    short back = reachable(d, ground.colour, NULL);
    wchar_t code[2] = {(wchar_t)cell->code, 0};

    setcchar(out, code, a, display_pair_of(d, cell->style, colour, back), NULL);
}

/* The columns from `from` to before `to`; at `from` no right half stands. */
static void show_cells(struct display *d, const struct cell *row, int y, int from, int to)
{
    cchar_t out[256];

    /* In pieces of what fits the buffer; a wide character is one entry of two columns. */
    for (int x = from; x < to;) {
        int start = x, n = 0;

        for (; x < to && n < 256; x++)
            if (row[x].code != 0)
                set_cell(d, &row[x], &out[n++]);
        mvadd_wchnstr(y, start, out, n);
        while (x < to && row[x].code == 0)
            x++;
    }
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
    return a->code == b->code && a->style.paint == b->style.paint &&
           a->style.ground == b->style.ground &&
           a->style.attributes == b->style.attributes;
}

/* What has changed of a row. A wide character never changes in its right half alone. */
static void show_row(struct display *d, const struct canvas *c, int y)
{
    size_t at = (size_t)y * (size_t)c->width;
    const struct cell *row = &c->cells[at], *shown = &d->shown.cells[at];
    int from = 0, to = c->width;

    while (!d->forgotten && from < to && same_cell(&row[from], &shown[from]))
        from++;
    while (!d->forgotten && from < to && same_cell(&row[to - 1], &shown[to - 1]))
        to--;
    show_cells(d, row, y, from, to);
}

/* Other colours: the pairs of before are of no use. */
static void change_theme(struct display *d, const struct theme *theme)
{
    d->theme = theme;
    d->forgotten = true;
    memset(d->pairs, 0, sizeof(d->pairs));
    d->next_pair = 1;
}

static void begin_frame(struct display *d)
{
    if (d->frame_fd >= 0 && lseek(d->frame_fd, 0, SEEK_SET) == 0)
        dup3(d->frame_fd, fileno(d->out), O_CLOEXEC);
}

/* All n bytes, unless the terminal has gone, which is noticed where its input is read. */
static void display_write_all(const char *bytes, size_t n)
{
    struct pollfd room = {.fd = STDOUT_FILENO, .events = POLLOUT};

    while (n > 0) {
        ssize_t done = write(STDOUT_FILENO, bytes, n);

        if (done < 0 && errno == EAGAIN)
            poll(&room, 1, -1);
        else if (done < 0 && errno != EINTR)
            return;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
}

static void end_frame(struct display *d)
{
    off_t end = d->frame_fd < 0 ? 0 : lseek(d->frame_fd, 0, SEEK_CUR);
    char bytes[16384];
    ssize_t n;

    if (d->frame_fd < 0)
        return;
    dup3(STDOUT_FILENO, fileno(d->out), O_CLOEXEC);
    for (off_t at = 0; at < end; at += n) {
        size_t most = (size_t)(end - at);

        n = pread(d->frame_fd, bytes, most < sizeof(bytes) ? most : sizeof(bytes), at);
        if (n <= 0)
            return;
        display_write_all(bytes, (size_t)n);
    }
}

void display_show(struct display *d, const struct canvas *c, const struct theme *theme)
{
    size_t n = (size_t)c->width * (size_t)c->height;

    if (theme != d->theme)
        change_theme(d, theme);
    if (d->shown.width != c->width || d->shown.height != c->height) {
        if (canvas_resize(&d->shown, c->width, c->height) < 0)
            return; /* the next frame may have the memory */
        d->forgotten = true;
    }
    if (d->forgotten)
        clearok(curscr, TRUE);
    for (int y = 0; y < c->height; y++)
        show_row(d, c, y);
    d->forgotten = false;
    if (n > 0)
        memcpy(d->shown.cells, c->cells, n * sizeof(*c->cells));
    wnoutrefresh(stdscr);
    begin_frame(d);
    doupdate();
    end_frame(d);
}

/* Input. */

static uint32_t to_press(int key)
{
    static const struct {
        int key;
        uint32_t press;
    } rows[] = {
        {KEY_UP, PRESS_UP},
        {KEY_DOWN, PRESS_DOWN},
        {KEY_LEFT, PRESS_LEFT},
        {KEY_RIGHT, PRESS_RIGHT},
        {KEY_PPAGE, PRESS_PAGE_UP},
        {KEY_NPAGE, PRESS_PAGE_DOWN},
        {KEY_HOME, PRESS_HOME},
        {KEY_END, PRESS_END},
        {KEY_BACKSPACE, PRESS_BACKSPACE},
        {KEY_DC, PRESS_DELETE},
        {KEY_BTAB, PRESS_BACKTAB},
        {KEY_ENTER, PRESS_ENTER},
        {KEY_F(1), PRESS_F1},
    };

    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        if (rows[i].key == key)
            return rows[i].press;
    return PRESS_NONE;
}

/* One event of the mouse; false when there is no further one. */
static bool read_mouse(struct input *out)
{
    struct input input = {.kind = INPUT_MOUSE};
    MEVENT event;

    if (getmouse(&event) != OK)
        return false;
    input.mouse.x = event.x;
    input.mouse.y = event.y;
    if (event.bstate & BUTTON4_PRESSED)
        input.mouse.kind = POINT_WHEEL_UP;
    else if (event.bstate & BUTTON5_PRESSED)
        input.mouse.kind = POINT_WHEEL_DOWN;
    else if (event.bstate & BUTTON1_DOUBLE_CLICKED)
        input.mouse.kind = POINT_DOUBLE;
    else if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED))
        input.mouse.kind = POINT_CLICK;
    else
        input = (struct input){.kind = INPUT_PRESS, .press = PRESS_NONE};
    *out = input;
    return true;
}

#define SEQUENCE_MAX 64 /* characters of a control sequence; no real one is so long */

static uint32_t plain_press(wint_t code)
{
    if (code == '\n')
        return PRESS_ENTER;
    if (code == 127 || code == 8)
        return PRESS_BACKSPACE;
    return (uint32_t)code;
}

/*
 * After an Esc that begins no key that curses knows: what is left of a control sequence
 * (ECMA-48 section 5.4: up to a byte from '@' to '~') belongs to it. A terminal that
 * reports its focus, or a key of another terminal, is no Esc and no letters.
 * Returns the press, PRESS_NONE for a whole sequence.
 */
static uint32_t read_sequence(void)
{
    wint_t code = 0;
    int rc = get_wch(&code);

    if (rc == ERR)
        return PRESS_ESC;
    if (rc == KEY_CODE_YES || (code != '[' && code != 'O')) {
        rc == KEY_CODE_YES ? ungetch((int)code) : unget_wch((wchar_t)code);
        return PRESS_ESC;
    }
    for (int i = 0; i < SEQUENCE_MAX; i++) {
        if (get_wch(&code) != OK)
            return i == 0 ? PRESS_ESC : PRESS_NONE;
        if (code >= '@' && code <= '~')
            break;
    }
    return PRESS_NONE;
}

struct input display_read(struct display *d)
{
    struct input input = {.kind = INPUT_PRESS};
    wint_t code = 0;
    int rc;

    /* ncurses 6.6 says KEY_MOUSE once for events that came together. */
    if (d->mouse_reports && read_mouse(&input))
        return input;
    d->mouse_reports = false;
    rc = get_wch(&code);
    if (rc == ERR)
        return (struct input){.kind = INPUT_NONE};
    if (rc != KEY_CODE_YES && code == PRESS_ESC)
        input.press = read_sequence();
    else if (rc != KEY_CODE_YES)
        input.press = plain_press(code);
    else if (code == KEY_MOUSE)
        d->mouse_reports = read_mouse(&input);
    else if (code == KEY_PASTE_BEGIN)
        input.kind = INPUT_PASTE_BEGIN;
    else if (code == KEY_PASTE_END)
        input.kind = INPUT_PASTE_END;
    else
        input.press = to_press((int)code);
    return input;
}

bool display_is_gone(const struct display *d)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    int waiting = 0;

    (void)d;
    if (poll(&p, 1, 0) < 0)
        return errno != EINTR;
    if (p.revents & (POLLHUP | POLLERR | POLLNVAL))
        return true;
    /* Readable and yet nothing to read: the end of input. */
    return p.revents & POLLIN && ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 &&
           waiting == 0;
}

/* Pictures. */

static unsigned from_curses(attr_t a)
{
    return (a & A_BOLD ? ATTR_BOLD : 0u) | (a & A_DIM ? ATTR_DIM : 0u) |
           (a & A_UNDERLINE ? ATTR_UNDERLINE : 0u) | (a & A_REVERSE ? ATTR_REVERSE : 0u);
}

/* Returns the columns of the character. */
static int read_cell(const struct display *d, struct picture *p, int x, int y)
{
    cchar_t cell;
    wchar_t code[CCHARW_MAX] = {L' '};
    attr_t attributes = 0;
    short pair = 0, text = -1, ground = -1;
    int columns;

    if (mvin_wch(y, x, &cell) == ERR ||
        getcchar(&cell, code, &attributes, &pair, NULL) == ERR)
        return 1;
    if (pair != 0)
        pair_content(pair, &text, &ground);
    if (d->colours == 0)
        text = ground = -1;
    picture_set(p, x, y, code[0] == 0 ? ' ' : (uint32_t)code[0], text, ground,
                from_curses(attributes));
    columns = text_code_columns((uint32_t)code[0]);
    if (columns == 2)
        picture_set(p, x + 1, y, 0, text, ground, from_curses(attributes));
    return columns < 1 ? 1 : columns;
}

int display_picture(const struct display *d, const struct theme *theme, struct picture *p)
{
    int rc = picture_init(p, COLS, LINES, theme_own_text(theme), theme_own_ground(theme));

    for (int y = 0; rc == 0 && y < LINES; y++)
        for (int x = 0; x < COLS;)
            x += read_cell(d, p, x, y);
    return rc;
}
