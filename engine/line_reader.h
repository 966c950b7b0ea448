/*
 * The lines of a file, one after the other. A line that nothing ends is the last one:
 * whole if only its newline is missing. None may be longer than CHANNEL_LINE_MAX.
 */
#ifndef ENGINE_LINE_READER_H
#define ENGINE_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

/* Begun as {.fd = FILE}, at the file's first line. */
struct line_reader {
    int fd;        /* borrowed */
    size_t number; /* of the last line taken, from 1 */
    char *text;    /* read and not yet taken */
    size_t used, room, taken;
    bool input_ended;
};

void line_reader_done(struct line_reader *r);

/*
 * The next line, without its end, borrowed until the next call: 1, 0 at the end of the
 * file, or a negative errno: -EMSGSIZE for a line that is too long.
 */
int line_reader_next(struct line_reader *r, const char **line, size_t *len);

/* Whether the line taken last was the last one. */
bool line_reader_at_end(const struct line_reader *r);

/* Back to the first line: 0 or a negative errno. */
int line_reader_rewind(struct line_reader *r);

#endif
