/*
 * Texts and numbers as the formats of the exports want them. Texts may hold any bytes,
 * since labels and reasons come from outside: what is not UTF-8 becomes U+FFFD, and so
 * do the control characters that a format cannot hold.
 */
#ifndef ENGINE_REPORT_QUOTE_H
#define ENGINE_REPORT_QUOTE_H

#include <stddef.h>
#include <stdio.h>

/* For element content and for attributes in double quotes, in XML and in HTML. */
void quote_xml(FILE *f, const char *text);

/* A field of RFC 4180: in double quotes where it needs them. */
void quote_csv(FILE *f, const char *text);

/* A cell of a table in Markdown: what would end or format it is escaped. */
void quote_markdown(FILE *f, const char *text);

/* A label value of OpenMetrics, without the quotes around it. */
void quote_label(FILE *f, const char *text);

/*
 * The shortest decimal text that reads back to the same number: 15 to 17 digits at
 * most; "" for what is not finite. The locale's decimal point is used: the exports are
 * written under the C locale (engine/report/export.h).
 */
void quote_number_text(double value, char *text, size_t size);
void quote_number(FILE *f, double value);

#endif
