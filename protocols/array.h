#ifndef PROTOCOLS_ARRAY_H
#define PROTOCOLS_ARRAY_H

/* How many elements an array has. Of a pointer it would be nonsense. */
#define NUMBER_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
