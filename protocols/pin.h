/* Which CPUs a process may run on. */
#ifndef PROTOCOLS_PIN_H
#define PROTOCOLS_PIN_H

#include "protocols/fail.h"

/*
 * pin_to_cpus: restrict this process and those it will spawn to the CPUs of a list as
 * taskset(1) writes it: "0", "0,2-3". The empty list changes nothing. 0, or a negative
 * errno with a sentence for a list that is none, or names a CPU that may not be used.
 * pin_check says whether it is a list, and nothing more; pin_check_here whether
 * pin_to_cpus would do it in this process, and changes nothing.
 */
int pin_check(const char *list, struct fail *fail);
int pin_check_here(const char *list, struct fail *fail);
int pin_to_cpus(const char *list, struct fail *fail);

#endif
