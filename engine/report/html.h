/*
 * The frame of the HTML files: one self-contained page, its style in it, without
 * scripts, fonts or anything else from elsewhere. Light or dark follows the reader's
 * system; on paper it is light. Every text goes through quote_xml
 * (engine/report/quote.h).
 */
#ifndef ENGINE_REPORT_HTML_H
#define ENGINE_REPORT_HTML_H

#include <stdio.h>

/* From the doctype to the opening of the body's main part. */
void html_begin(FILE *f, const char *title);
void html_end(FILE *f);

/* <TAG class="CLASS">text</TAG>; no class with "". */
void html_element(FILE *f, const char *tag, const char *class, const char *text);

/* A cell of a table that holds a number, aligned so. */
void html_number(FILE *f, const char *text);

#endif
