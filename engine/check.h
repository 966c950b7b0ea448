/*
 * A check: a statement about a result itself, whether its numbers can be believed. All of
 * them are made when a trial has ended (engine/trial_checks.c).
 */
#ifndef ENGINE_CHECK_H
#define ENGINE_CHECK_H

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_UNKNOWN };

#define TRIAL_CHECKS 16

struct check {
    const char *name; /* "identity" */
    enum verdict verdict;
    char detail[320]; /* with the figures */
};

#endif
