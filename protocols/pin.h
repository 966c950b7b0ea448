/* Which CPUs a process may run on. */
#ifndef PROTOCOLS_PIN_H
#define PROTOCOLS_PIN_H

#include "protocols/fail.h"

/*
 * Restrict this process and those it will spawn to the CPUs of a list as taskset(1)
 * writes it: "0", "0,2-3". The empty list changes nothing. 0, or a negative errno
 * with a sentence for a list that is none, or names a CPU that may not be used.
 */
int pin_check(const char *list, struct fail *fail); /* that it is a list, nothing more */
int pin_to_cpus(const char *list, struct fail *fail);

#endif
