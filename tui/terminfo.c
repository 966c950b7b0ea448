#include "tui/terminfo.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

const char *terminfo_string(const char *name)
{
    const char *s = tigetstr(name);

    return s == (const char *)-1 ? NULL : s;
}

bool terminfo_is_known(const char *term, bool *can_place)
{
    int status = 0;
    bool known = setupterm(term, STDOUT_FILENO, &status) == OK && status == 1;

    *can_place = known && terminfo_string("cup") != NULL;
    if (known)
        del_curterm(cur_term);
    return known;
}
