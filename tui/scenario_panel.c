#include "tui/scenario_panel.h"

#include <stdio.h>
#include <string.h>

#include "engine/trial.h"
#include "tui/figure.h"
#include "tui/metric_label.h"
#include "tui/param_view.h"
#include "tui/text.h"

/* Diagram. */

#define NODE_WIDTH 14
#define LINK_LEAST 11
#define LAST_RUNS_SHOWN 20

struct scenario_panel_link {
    const char *label; /* above the line */
    bool both_ways;
};

static void draw_node(struct canvas *c, int x, int y, enum place place)
{
    struct style s = style(place == PLACE_CLIENT ? PAINT_CLIENT : PAINT_SERVER);
    const char *name = place_name(place);
    int room = NODE_WIDTH - 4, columns = text_columns(name);

    canvas_box(c, (struct area){x, y, NODE_WIDTH, 3}, NULL, false);
    s.attributes = ATTR_BOLD;
    canvas_text(c, x + 2 + (room - columns) / 2, y + 1, room, s, name);
}

static void draw_link(struct canvas *c, int x, int y, int width,
                      const struct scenario_panel_link *link)
{
    struct style line = style(PAINT_DIM);
    int columns = text_columns(link->label);

    columns = columns > width ? width : columns;
    canvas_text(c, x + (width - columns) / 2, y, columns, style(PAINT_TEXT), link->label);
    canvas_rule(c, x, y + 1, width, line);
    canvas_put(c, x + width - 1, y + 1, c->glyphs->right, line);
    if (link->both_ways)
        canvas_put(c, x, y + 1, c->glyphs->left, line);
}

static const char *upstream_label(const struct options *values)
{
    return options_is(values, OPTION_upstream_kind, "topper") ? "topper" : "http";
}

/* Returns the rows used, 0 when it does not fit. */
static int draw_diagram(struct canvas *c, struct area a, const struct scenario *s,
                        const struct options *values)
{
    static const enum place order[] = {PLACE_CLIENT, PLACE_ENDPOINT, PLACE_SERVER};
    int nodes = 0, x = a.x, space;
    const char *label = options_text(values, OPTION_transport, s->family->protocol);
    bool both = !s->family->one_way && !options_is(values, OPTION_direction, "up");

    for (size_t i = 0; i < 3; i++)
        nodes += s->roles[order[i]] != NULL;
    if (nodes < 2 || a.height < 3)
        return 0;
    space = (a.width - nodes * NODE_WIDTH) / (nodes - 1);
    if (space < LINK_LEAST - 4)
        return 0;
    space = space > LINK_LEAST + 6 ? LINK_LEAST + 6 : space;
    for (size_t i = 0; i < 3; i++) {
        if (!s->roles[order[i]])
            continue;
        if (x > a.x) {
            draw_link(c, x + 1, a.y, space - 2,
                      &(struct scenario_panel_link){order[i] == PLACE_SERVER && nodes == 3
                                                        ? upstream_label(values)
                                                        : label,
                                                    both});
            x += space;
        }
        draw_node(c, x, a.y, order[i]);
        x += NODE_WIDTH;
    }
    return 3;
}

/* Text. */

/* Rows of parameters, documented result and last runs with their headings, as a rule. */
#define FACTS_ROWS 16

static void title(struct canvas *c, struct area *a, const char *text)
{
    struct area row = area_take_top(a, 1);
    struct style s = style(PAINT_ACCENT);

    s.attributes = ATTR_BOLD;
    if (row.height > 0)
        canvas_text(c, row.x, row.y, row.width, s, text);
}

static void scenario_panel_paragraph(struct canvas *c, struct area *a, struct style s,
                                     const char *text)
{
    area_take_top(a, canvas_paragraph(c, *a, s, text));
}

static int draw_value(struct canvas *c, struct area cell, const struct param *p,
                      const char *text)
{
    int x = cell.x;

    x += canvas_text(c, x, cell.y, cell.width, style(PAINT_DIM), p->name) + 1;
    x += canvas_text(c, x, cell.y, cell.x + cell.width - x, style(PAINT_STRONG), text);
    return x - cell.x;
}

static void draw_values(struct canvas *c, struct area *a, const struct scenario *s,
                        const struct options *values)
{
    int columns = a->width >= 60 ? 3 : 2, cell = a->width / columns, n = 0;
    struct area row = {0};

    for (const struct param *p = param_table(); p->name; p++) {
        char text[256];

        if (!scenario_has(s, p))
            continue;
        param_view_text(values, p, text, sizeof(text));
        if (text[0] == '\0' ||
            (strcmp(text, p->fallback) == 0 && !(p->flags & PARAM_SIZING)) ||
            (strcmp(text, "0") == 0 && p->zero))
            continue;
        if (text_columns(p->name) + text_columns(text) + 2 > cell && n % columns != 0)
            n += columns - n % columns;
        if (n % columns == 0)
            row = area_take_top(a, 1);
        if (row.height == 0)
            return;
        row.x += n % columns == 0 ? 0 : cell;
        if (text_columns(p->name) + text_columns(text) + 2 > cell) {
            draw_value(c, (struct area){row.x, row.y, a->width, 1}, p, text);
            n += columns;
        } else {
            draw_value(c, (struct area){row.x, row.y, cell - 1, 1}, p, text);
            n++;
        }
    }
}

static void scenario_panel_draw_reference(struct canvas *c, struct area *a,
                                          const struct reference *ref)
{
    struct area row = area_take_top(a, 1);
    int m = metric_find(ref->metric), x;
    char name[64], text[80];

    if (row.height == 0 || m == METRIC_COUNT)
        return;
    metric_label((enum metric)m, name, sizeof(name));
    x = row.x + canvas_print(c, row.x, row.y, row.width, style(PAINT_DIM), "%s%s%s ",
                             name, ref->where[0] ? " " : "", ref->where);
    reference_list(ref, text, sizeof(text));
    if (text[0] == '\0')
        reference_text(ref, text, sizeof(text));
    canvas_text(c, x, row.y, row.x + row.width - x, style(PAINT_STRONG), text);
}

static void draw_documented(struct canvas *c, struct area *a, const struct scenario *s)
{
    if (!s->documented || s->documented[0] == '\0')
        return;
    title(c, a, "Documented elsewhere; D runs it so");
    scenario_panel_paragraph(c, a, style(PAINT_DIM), s->documented);
    for (const struct reference *ref = s->references; ref->metric; ref++)
        scenario_panel_draw_reference(c, a, ref);
}

/* A spark line of the headline metric, and the last value in figures. */
static void draw_last_runs(struct canvas *c, struct area *a, const struct scenario *s,
                           const struct last_runs *saved)
{
    double values[LAST_RUNS_SHOWN];
    size_t n = last_runs_values(saved, s, values, LAST_RUNS_SHOWN);
    enum metric m = s->family->headlines[0];
    char name[64], last[40];
    struct area row;
    int x;

    if (n == 0)
        return;
    title(c, a, "Last runs here");
    row = area_take_top(a, 1);
    if (row.height == 0)
        return;
    metric_label(m, name, sizeof(name));
    figure_metric(m, values[n - 1], last, sizeof(last));
    x = row.x + canvas_text(c, row.x, row.y, 20, style(PAINT_DIM), name) + 1;
    canvas_spark(c, x, row.y, row.x + row.width - x, values, n, style(PAINT_SERIES_1));
    x += (int)n + 1;
    canvas_print(c, x, row.y, row.x + row.width - x, style(PAINT_STRONG), "%s", last);
}

/* The figures; what the scenario is about takes more words. */
static void draw_facts(struct canvas *c, struct area *a, const struct scenario *s,
                       const struct options *values, const struct last_runs *saved)
{
    title(c, a, "Parameters");
    draw_values(c, a, s, values);
    if (s->documented && s->documented[0] != '\0')
        area_take_top(a, a->height > 5 ? 1 : 0);
    draw_documented(c, a, s);
    area_take_top(a, a->height > 3 ? 1 : 0);
    draw_last_runs(c, a, s, saved);
}

static void draw_about(struct canvas *c, struct area *a, const struct scenario *s)
{
    scenario_panel_paragraph(c, a, style(PAINT_TEXT), s->about);
    area_take_top(a, a->height > 8 ? 1 : 0);
}

/* Where not all of it fits, the figures come first: prose that is cut loses less. */
static bool scenario_panel_has_room(struct canvas *c, struct area a,
                                    const struct scenario *s)
{
    return a.height >= canvas_paragraph(c, (struct area){a.x, a.y, a.width, 0},
                                        style(PAINT_TEXT), s->about) +
                           FACTS_ROWS;
}

void scenario_panel_draw(struct canvas *c, struct area a, const struct scenario *s,
                         const struct options *values, const struct last_runs *saved)
{
    struct area before = canvas_clip(c, a);
    struct style strong = style(PAINT_STRONG);
    int rows;

    strong.attributes = ATTR_BOLD;
    scenario_panel_paragraph(c, &a, strong, s->title);
    area_take_top(&a, a.height > 16 ? 1 : 0);
    rows = draw_diagram(c, a, s, values);
    area_take_top(&a, rows + (a.height > 16 ? 1 : 0));
    if (scenario_panel_has_room(c, a, s)) {
        draw_about(c, &a, s);
        draw_facts(c, &a, s, values, saved);
    } else {
        draw_facts(c, &a, s, values, saved);
        area_take_top(&a, a.height > 3 ? 1 : 0);
        draw_about(c, &a, s);
    }
    canvas_unclip(c, before);
}
