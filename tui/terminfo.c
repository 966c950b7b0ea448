#include "tui/terminfo.h"

#include <curses.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

const char *terminfo_string(const char *name)
{
    const char *s = tigetstr(name);

    return s == (const char *)-1 ? NULL : s;
}

/* Whether the type is known; *can_place: whether it can move its cursor about. */
static bool is_known(const char *term, bool *can_place)
{
    int status = 0;
    bool known = setupterm(term, STDOUT_FILENO, &status) == OK && status == 1;

    *can_place = known && terminfo_string("cup");
    if (known)
        del_curterm(cur_term);
    return known;
}

const char *terminfo_choose(const char *term, const char **advice, struct fail *fail)
{
    bool can_place, xterm_can_place;

    *advice = "";
    if (!term || term[0] == '\0' || strcmp(term, "dumb") == 0) {
        fail_usage(
            fail, "open the terminal",
            "TERM is %s, a terminal that cannot place its cursor. Set TERM to what your "
            "terminal is (for example TERM=xterm-256color), or use \"plimsoll run "
            "SCENARIO\", which needs no screen",
            !term || term[0] == '\0' ? "not set" : "\"dumb\"");
        return NULL;
    }
    if (is_known(term, &can_place)) {
        if (can_place)
            return term;
        fail_usage(
            fail, "open the terminal",
            "a terminal of the type \"%.40s\" cannot place its cursor. Set TERM to what "
            "your terminal is, or use \"plimsoll run SCENARIO\", which needs no screen",
            term);
        return NULL;
    }
    *advice = "This system does not know your terminal's type (TERM): it is driven as an "
              "xterm. Set TERM, or install the package ncurses-term.";
    if (is_known("xterm", &xterm_can_place) && xterm_can_place)
        return "xterm";
    if (is_known("vt100", &xterm_can_place) && xterm_can_place)
        return "vt100";
    fail_usage(
        fail, "open the terminal",
        "this system does not know the terminal type \"%.40s\", and has no description "
        "of an xterm either: install the package ncurses-base",
        term);
    return NULL;
}
