/*
 * What the console costs beside a run: processor time, bytes to the terminal, the time
 * to the first frame and from a key to its answer, at 200 x 60 with four charts and the
 * heat map. Issue figures: under 2 % of a core, under 40 kB/s, 50 ms, one frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocols/clock.h"
#include "tests/terminal.h"

#define WIDTH 200
#define HEIGHT 60
#define MEASURE_S 10
#define KEYS 20
#define FRAME_MS 50 /* at 20 frames a second */

/* CPU time that a process has used, user and system, in seconds. */
static double cpu_seconds(pid_t pid)
{
    struct timespec used;
    clockid_t clock;

    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    assert_int_equal(clock_gettime(clock, &used), 0);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void pump_for(struct terminal *t, uint64_t span_ns)
{
    uint64_t end = now_ns() + span_ns;

    while (now_ns() < end)
        terminal_pump(t, 20);
}

static double first_frame_ms(const char *program)
{
    const char *const argv[] = {program, NULL};
    uint64_t begin = now_ns();
    struct terminal *t = terminal_start(argv, WIDTH, HEIGHT, NULL);
    double ms;

    assert_true(terminal_sees_within(t, "Enter run", TERMINAL_WAIT_MS));
    ms = (double)(now_ns() - begin) / 1e6;
    terminal_free(t);
    return ms;
}

/* From a key to the first byte of its answer, while a run is drawn. */
static double slowest_key_ms(struct terminal *t)
{
    double slowest = 0;

    for (int i = 0; i < KEYS; i++) {
        bool frozen = i % 2 == 0;
        uint64_t begin = now_ns();

        terminal_type(t, "f");
        while (now_ns() - begin < 2 * NS_PER_S &&
               (terminal_find(t, "picture frozen", NULL) >= 0) != frozen)
            terminal_pump(t, 2);
        slowest = (double)(now_ns() - begin) / 1e6 > slowest
                      ? (double)(now_ns() - begin) / 1e6
                      : slowest;
        pump_for(t, 37 * NS_PER_MS);
    }
    return slowest;
}

static struct terminal *start_run(const char *program)
{
    const char *const argv[] = {program, NULL};
    struct terminal *t = terminal_start(argv, WIDTH, HEIGHT, NULL);

    assert_true(terminal_sees(t, "Enter run"));
    terminal_type(t, "5e");
    assert_true(terminal_sees(t, "requests in all"));
    terminal_type(t, "\r\0251000000\r");
    terminal_type(t,
                  TYPE_DOWN TYPE_DOWN "  " TYPE_DOWN TYPE_DOWN TYPE_DOWN "\r\0252000\r");
    assert_true(terminal_sees(t, "persistent"));
    terminal_type(t, "r");
    assert_true(terminal_sees_within(t, "RUNNING", TERMINAL_WAIT_MS));
    return t;
}

int main(void)
{
    const char *build = getenv("PLIMSOLL_BUILD");
    char program[512], state[] = "/tmp/plimsoll-bench-XXXXXX", clean[64];
    double first, cpu, begin_cpu, key, kilobytes;
    size_t written;
    struct terminal *t;

    snprintf(program, sizeof(program), "%s/plimsoll", build != NULL ? build : "build");
    if (mkdtemp(state) == NULL)
        return 1;
    setenv("XDG_STATE_HOME", state, 1);
    first = first_frame_ms(program);
    t = start_run(program);
    pump_for(t, 2 * NS_PER_S);
    begin_cpu = cpu_seconds(terminal_pid(t));
    written = terminal_written(t);
    pump_for(t, MEASURE_S * NS_PER_S);
    cpu = cpu_seconds(terminal_pid(t)) - begin_cpu;
    written = terminal_written(t) - written;
    key = slowest_key_ms(t);
    printf("%-34s %10s %10s\n", "console at 200x60 beside a run", "measured", "wanted");
    cpu = 100 * cpu / MEASURE_S;
    kilobytes = (double)written / MEASURE_S / 1e3;
    printf("%-34s %8.2f %% %10s\n", "processor, of one core", cpu, "< 2 %");
    printf("%-34s %7.1f kB %10s\n", "to the terminal, a second", kilobytes, "< 40 kB");
    printf("%-34s %7.1f ms %10s\n", "first frame after the start", first, "< 50 ms");
    printf("%-34s %7.1f ms %10s\n", "slowest answer to a key of 20", key, "< 50 ms");
    terminal_free(t);
    snprintf(clean, sizeof(clean), "rm -rf %s", state);
    return system(clean) == 0 && cpu < 2 && kilobytes < 40 && first < FRAME_MS &&
                   key < FRAME_MS
               ? 0
               : 1;
}
