/* Lists of words in a sentence. */
#ifndef PROTOCOLS_WORDS_H
#define PROTOCOLS_WORDS_H

#include <stddef.h>

/* "tcp, unix or pipe": at most `size` bytes with the final NUL; "" for no words. */
void words_or(const char *const *words, size_t count, char *text, size_t size);

#endif
