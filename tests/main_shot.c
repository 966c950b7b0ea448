/*
 * shot: drive a program in a terminal of a given size by a script of words, and take
 * pictures of its screen.
 *
 *   shot WIDTHxHEIGHT [NAME=VALUE ...] -- PROGRAM [ARGUMENTS ...] -- WORD ...
 *
 *   see TEXT      wait until the text is on the screen and all is silent
 *   spot TEXT     wait until the text is on the screen
 *   type KEYS     send keys; \e is Esc, \r Enter, \t Tab, \U Ctrl-U, \u \d \l \> arrows
 *   rest MS       let the program work for a while
 *   size WxH      change the size
 *   save FILE     FILE.svg and FILE.txt
 *   text          print the screen
 *
 * Exit status 0, or 1 when something was not seen, with the screen on standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/clock.h"
#include "tests/terminal.h"

#define SPOT_MS 120000 /* the longest run that a picture is taken of */

static void send_keys(struct terminal *t, const char *keys)
{
    for (const char *k = keys; *k != '\0'; k++) {
        char one[2] = {*k, '\0'};

        if (*k != '\\' || k[1] == '\0') {
            terminal_type(t, one);
            continue;
        }
        switch (*++k) {
        case 'e':
            terminal_type(t, TYPE_ESC);
            terminal_pump(t, 60); /* alone, or it would be the begin of a sequence */
            break;
        case 'r':
            terminal_type(t, TYPE_ENTER);
            break;
        case 't':
            terminal_type(t, "\t");
            break;
        case 'U':
            terminal_type(t, "\025"); /* Ctrl-U empties a field */
            break;
        case 'u':
            terminal_type(t, TYPE_UP);
            break;
        case 'd':
            terminal_type(t, TYPE_DOWN);
            break;
        case 'l':
            terminal_type(t, TYPE_LEFT);
            break;
        case '>':
            terminal_type(t, TYPE_RIGHT);
            break;
        default:
            one[0] = *k;
            terminal_type(t, one);
        }
    }
}

static void rest(struct terminal *t, const char *ms)
{
    uint64_t end = now_ns() + strtoull(ms, NULL, 10) * NS_PER_MS;

    while (now_ns() < end)
        terminal_pump(t, 10);
}

static int save(struct terminal *t, const char *path)
{
    char name[512];
    struct picture p;
    FILE *f;

    terminal_picture(t, &p);
    snprintf(name, sizeof(name), "%s.svg", path);
    f = fopen(name, "w");
    if (f == NULL)
        return 1;
    picture_write_svg(&p, "plimsoll", f);
    fclose(f);
    snprintf(name, sizeof(name), "%s.txt", path);
    f = fopen(name, "w");
    if (f == NULL)
        return 1;
    picture_write_text(&p, f);
    fclose(f);
    picture_done(&p);
    return 0;
}

static int print(struct terminal *t, FILE *f)
{
    char *text = terminal_text(t);

    fputs(text, f);
    free(text);
    return 0;
}

/* One word with its operand; *at moves on over it. Returns 0 or 1. */
static int act(struct terminal *t, char **words, int *at)
{
    const char *word = words[*at], *operand = words[*at + 1];
    int width, height;

    if (strcmp(word, "text") == 0)
        return print(t, stdout);
    if (operand == NULL) {
        fprintf(stderr, "shot: %s needs an operand\n", word);
        return 1;
    }
    ++*at;
    if (strcmp(word, "see") == 0)
        return !terminal_sees(t, operand);
    if (strcmp(word, "spot") == 0)
        return !terminal_sees_within(t, operand, SPOT_MS);
    if (strcmp(word, "type") == 0)
        send_keys(t, operand);
    else if (strcmp(word, "rest") == 0)
        rest(t, operand);
    else if (strcmp(word, "save") == 0)
        return save(t, operand);
    else if (strcmp(word, "size") == 0 && sscanf(operand, "%dx%d", &width, &height) == 2)
        terminal_resize(t, width, height);
    else
        return 1;
    return 0;
}

/* Cut the list at "--": returns the index after it. */
static int part(int argc, char **argv, int from)
{
    int i = from;

    while (i < argc && strcmp(argv[i], "--") != 0)
        i++;
    if (i < argc)
        argv[i++] = NULL;
    return i;
}

int main(int argc, char **argv)
{
    int width, height, program, words, failed = 0;
    struct terminal *t;

    if (argc < 4 || sscanf(argv[1], "%dx%d", &width, &height) != 2) {
        fprintf(stderr, "usage: shot WxH [NAME=VALUE ...] -- PROGRAM ... -- WORD ...\n");
        return 2;
    }
    program = part(argc, argv, 2);
    words = part(argc, argv, program);
    t = terminal_start((const char *const *)(argv + program), width, height,
                       (const char *const *)(argv + 2));
    for (int i = words; i < argc && !failed; i++) {
        failed = act(t, argv, &i);
        if (failed) {
            fprintf(stderr, "shot: failed at \"%s\", where the screen was:\n", argv[i]);
            print(t, stderr);
        }
    }
    terminal_free(t);
    return failed;
}
