/*
 * Numbers with units, as a person types and reads them. The decimal point is always
 * '.', whatever the locale. What is read:
 *
 *   count     250  10k  1m  2g                  (k 1000, m 1000^2, g 1000^3)
 *   size      4096  10kB  10MB  64KiB  1GiB  1M (kB 1000, KiB 1024; B may be left out)
 *   duration  10  500ms  10s  1.5s  2m  1h      (a bare number is seconds)
 */
#ifndef ENGINE_UNITS_H
#define ENGINE_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum unit_kind { UNIT_COUNT, UNIT_SIZE, UNIT_DURATION };

/*
 * Text to base units (items, bytes, nanoseconds). Letters' case does not matter.
 * 0; -EINVAL when the text is no number with a known unit (a sign is none); -ERANGE
 * when the value does not fit 64 bits or is not whole in the base unit.
 */
int units_parse(enum unit_kind kind, const char *text, uint64_t *value);

/*
 * Base units to a text that units_parse reads back to the same value, in the largest
 * unit that is exact: 1073741824 -> "1GiB", 1500000000 -> "1500ms"; counts in full.
 */
void units_format_exact(enum unit_kind kind, uint64_t value, char *text, size_t size);

/*
 * For people: three significant digits, NaN as "-". "3.21 GB", "12.3k", "18.2 us". What
 * is not zero is never shown as zero: "< 0.01".
 */
void units_format_bytes(double bytes, char *text, size_t size);  /* decimal units */
void units_format_binary(double bytes, char *text, size_t size); /* "1.5 KiB", to MiB */
void units_format_count(double count, char *text, size_t size);
void units_format_duration(double ns, char *text, size_t size);

/* How many a second, whole from ten on: "4321", "0.33". */
void units_format_rate(double per_s, char *text, size_t size);

/* With so many decimals: "0.040", or "< 0.001" for what is nearer to zero. */
void units_format_fixed(double value, int decimals, char *text, size_t size);

#endif
