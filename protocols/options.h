/*
 * Named values that a role is started with. The engine owns the descriptions
 * (type, range, default, help: engine/param.h), checks what a person typed and
 * fills this; a role reads what it needs once, when it is prepared. Numbers are in
 * the base unit of their kind: bytes, messages, nanoseconds, per second; a flag is
 * 0 or 1; a choice is its text.
 */
#ifndef PROTOCOLS_OPTIONS_H
#define PROTOCOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Every name that there is, so that a wrong one does not compile: those of parameters,
 * and after them what scenarios and the engine alone tell a role. X(name)
 */
/* clang-format off */
#define OPTION_LIST(X)                                                          \
    X(amount) X(arrivals) X(arrivals_seed) X(batch) X(block) X(body) X(client) X(client_launch) X(close)     \
    X(concurrency) X(congestion) X(connected) X(connection_rate)                \
    X(connections) X(direction) X(drain) X(duration) X(file) X(full_print)      \
    X(gro) X(gso) X(headers) X(host) X(input) X(label) X(message)               \
    X(message_size) X(messages) X(method) X(multicast) X(nth) X(path)           \
    X(payload) X(pin) X(pipelining) X(port) X(rate) X(receive_buffer)           \
    X(receivers) X(remote_target) X(requests) X(resolve) X(send_buffer)         \
    X(server_launch) X(size) X(socket_path) X(target) X(task) X(threshold)      \
    X(timeout) X(trials) X(unfinished) X(upstream) X(url) X(verify) X(warmup) X(window)       \
    X(workers)                                                                  \
                                                                                \
    X(accepted) X(call) X(content) X(dispatch) X(expect) X(foreign)             \
    X(oneshot_program) X(persistent) X(rate_per) X(received) X(run_id)          \
    X(sender) X(senders) X(shared_clock) X(socket) X(transport)                 \
    X(upstream_endpoint) X(upstream_kind)
/* clang-format on */

enum option {
    OPTION_NONE,
#define X(name) OPTION_##name,
    OPTION_LIST(X)
#undef X
        OPTION_COUNT
};

/* "rate": as it stands in recordings and on the channel. Not of OPTION_NONE. */
const char *option_name(enum option option);

/* OPTION_NONE when nothing has exactly this name. */
enum option option_find(const char *name);

struct option_value {
    enum option option;
    char *text; /* NULL for a number */
    uint64_t number;
};

/* Zero bytes are a valid empty set. In the order in which they were first set. */
struct options {
    size_t count;
    struct option_value *values;
};

void options_done(struct options *o);

/* Set or replace; the text is copied. 0 or -ENOMEM. */
int options_set_number(struct options *o, enum option option, uint64_t number);
int options_set_text(struct options *o, enum option option, const char *text);

/* Set all that `from` holds in `to`, which keeps what else it has. 0 or -ENOMEM. */
int options_copy(struct options *to, const struct options *from);

/*
 * The value of an option, or `fallback` when it is not set or is of the other kind.
 * Texts are borrowed: valid until the option is set again or options_done.
 */
uint64_t options_number(const struct options *o, enum option option, uint64_t fallback);
const char *options_text(const struct options *o, enum option option,
                         const char *fallback);

/* Whether a choice has this value: options_is(o, OPTION_direction, "both"). */
bool options_is(const struct options *o, enum option option, const char *text);

#endif
