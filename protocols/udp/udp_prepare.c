#include "protocols/udp/udp_prepare.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "protocols/array.h"
#include "protocols/clock.h"
#include "protocols/resolve.h"
#include "protocols/udp/udp_cached.h"
#include "protocols/udp/udp_flow.h"
#include "protocols/udp/udp_fresh.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

#define SEGMENTS_MAX 64 /* of one segmented send: UDP_MAX_SEGMENTS of older kernels */

/* What cannot be done together. */
static int check_strategy(const struct flow *f, struct fail *fail)
{
    bool several = f->batch > 1 || f->gso;

    if (f->batch < 1 || f->batch > UDP_BATCH_MAX)
        return fail_usage(fail, "batch", "--batch takes 1 to %d messages", UDP_BATCH_MAX);
    if (several && (f->is_fresh || !f->is_parallel))
        return fail_usage(
            fail, "batch",
            "--batch and --gso hand several messages over in one call, which "
            "only one cached socket in parallel can do");
    if (f->gso && f->resolve_each)
        return fail_usage(fail, "gso",
                          "--gso sends several messages to one address: it needs "
                          "--resolve once");
    if (f->connected && f->resolve_each && !f->is_fresh)
        return fail_usage(fail, "connected",
                          "--connected gives the one socket one address: it needs "
                          "--resolve once");
    return 0;
}

static int read_strategy(struct flow *f, struct fail *fail)
{
    const struct options *o = f->env->options;
    uint64_t window = options_number(o, OPTION_window, 0);

    f->is_fresh = options_is(o, OPTION_socket, "fresh");
    f->is_parallel = options_is(o, OPTION_dispatch, "parallel");
    f->gso = options_number(o, OPTION_gso, 0);
    f->batch = options_number(o, OPTION_batch, 1);
    f->resolve_each = options_is(o, OPTION_resolve, "each");
    f->connected = options_number(o, OPTION_connected, 0);
    f->ahead = !f->is_parallel ? 1 : f->is_fresh && window ? window : UINT64_MAX;
    f->send = f->is_fresh ? udp_fresh_send : udp_cached_send;
    return check_strategy(f, fail);
}

static int read_amounts(struct flow *f, struct fail *fail)
{
    const struct options *o = f->env->options;
    uint64_t buffer_bytes = options_number(o, OPTION_send_buffer, 0);

    f->messages = options_number(o, OPTION_messages, 100000);
    f->duration_ns = options_number(o, OPTION_duration, 0);
    f->full_print =
        options_number(o, OPTION_full_print, 0) && !options_number(o, OPTION_sender, 0);
    f->rate = options_number(o, OPTION_rate, 0);
    f->send_buffer_bytes = buffer_bytes > INT_MAX / 2 ? INT_MAX / 2 : (int)buffer_bytes;
    if (!f->messages)
        f->messages = UINT64_MAX;
    if (f->messages > DATAGRAM_SEQUENCE_MAX && f->messages != UINT64_MAX)
        return fail_usage(fail, "messages", "--messages has more than can be numbered");
    return 0;
}

static int read_plain(struct flow *f, const char *label, size_t size_bytes,
                      struct fail *fail)
{
    int err = datagram_form_plain(&f->form, label, size_bytes, fail);

    if (err == 0 && f->form.size_bytes == strlen(DATAGRAM_FULL_PRINT) &&
        memcmp(f->form.prefix, DATAGRAM_FULL_PRINT, f->form.size_bytes) == 0)
        return fail_usage(fail, "label",
                          "a server takes " DATAGRAM_FULL_PRINT " for a command and does "
                          "not count it: take another --label, or --payload stamped");
    return err;
}

static int read_payload(struct flow *f, struct fail *fail)
{
    const struct options *o = f->env->options;
    const char *label = options_text(o, OPTION_label, "PLIMSOLL");
    uint64_t size_bytes = options_number(o, OPTION_size, 0);

    if (size_bytes > UINT16_MAX)
        return fail_set(fail, EMSGSIZE, "size",
                        "a datagram of %" PRIu64 " bytes cannot be", size_bytes);
    if (options_is(o, OPTION_payload, "plain"))
        return read_plain(f, label, (size_t)size_bytes, fail);
    return datagram_form_stamped(&f->form, label, (size_t)size_bytes,
                                 options_number(o, OPTION_run_id, 0),
                                 (uint32_t)options_number(o, OPTION_sender, 0), fail);
}

static bool is_numeric(const char *host)
{
    return strspn(host, "0123456789.") == strlen(host) || strchr(host, ':');
}

static bool leads_to_target(const struct flow *f, const char *host)
{
    struct endpoint e = f->name;
    struct sockaddr_storage address;
    socklen_t len;

    snprintf(e.host, sizeof(e.host), "%s", host);
    return endpoint_address(&e, &address, &len, NULL) == 0 && len == f->target_len &&
           memcmp(&address, &f->target, len) == 0;
}

/* A name whose address is known without the system, which may be slow to say no. */
static bool is_unknown_here(const struct endpoint *name)
{
    struct addrinfo *list = NULL;
    bool is_unknown = endpoint_look_up(name, &list, NULL) == 1;

    if (list)
        freeaddrinfo(list);
    return is_unknown;
}

/*
 * The name to look up for each message. The endpoint of a server started for the run is
 * an address; then it is the name that the server was to listen on, or a name of
 * this machine that leads to it. An address that has none which the system knows is
 * looked up itself.
 */
static void choose_name(struct flow *f)
{
    static const char *const names[] = {"localhost", "ip6-localhost"};
    const char *host = options_text(f->env->options, OPTION_host, "");
    const char *target = options_text(f->env->options, OPTION_target, "");

    if (!f->resolve_each)
        return;
    if (!*target && *host && !f->group.is_set)
        snprintf(f->name.host, sizeof(f->name.host), "%s", host);
    for (size_t i = 0; i < 2 && is_numeric(f->name.host); i++)
        if (leads_to_target(f, names[i]))
            snprintf(f->name.host, sizeof(f->name.host), "%s", names[i]);
    if (is_unknown_here(&f->name)) {
        endpoint_from_address(&f->name, f->name.kind, &f->target);
        f->env->fact(f->env, "name_lookup",
                     "of the address: this system knows no localhost");
    }
    f->env->note(f->env, "the name \"%s\" is looked up for every message", f->name.host);
}

static int read_target(struct flow *f, struct fail *fail)
{
    int err = endpoint_parse_target(&f->name, f->env->endpoint, fail);

    if (err < 0)
        return err;
    if (f->name.kind != ENDPOINT_UDP)
        return fail_usage(fail, "target", "\"%s\" is not a UDP endpoint",
                          f->env->endpoint);
    err = resolve_address(&f->name, &f->target, &f->target_len, fail);
    if (err == 0)
        err = udp_group_read(&f->group, f->env->options, fail);
    if (err == 0)
        err = udp_group_find_way(&f->group, fail);
    if (err < 0)
        return err;
    choose_name(f);
    return 0;
}

/* The MTU of the way to the target, 0 when it is not known. */
static int path_mtu_bytes(const struct flow *f)
{
    bool is_v6 = f->target.ss_family == AF_INET6;
    int fd = socket(f->target.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int bytes = 0;
    socklen_t len = sizeof(bytes);

    if (fd < 0)
        return 0;
    if (connect(fd, (const struct sockaddr *)&f->target, f->target_len) < 0 ||
        getsockopt(fd, is_v6 ? IPPROTO_IPV6 : IPPROTO_IP, is_v6 ? IPV6_MTU : IP_MTU,
                   &bytes, &len) < 0)
        bytes = 0;
    close(fd);
    return bytes;
}

/* A datagram over the MTU goes in fragments, and is lost when one of them is. */
static int tell_fragments(struct flow *f, struct fail *fail)
{
    size_t headers_bytes = (f->target.ss_family == AF_INET6 ? 40 : 20) + 8;
    int mtu_bytes = path_mtu_bytes(f);
    char text[80];

    (void)fail;
    if (!mtu_bytes || f->form.size_bytes + headers_bytes <= (size_t)mtu_bytes)
        return 0;
    snprintf(text, sizeof(text), "yes: %zu bytes with headers, and the MTU is %d",
             f->form.size_bytes + headers_bytes, mtu_bytes);
    f->env->fact(f->env, "fragmented", text);
    return 0;
}

/* As many messages as one segmented send carries. */
static int size_segments(struct flow *f, struct fail *fail)
{
    size_t most;

    if (!f->gso)
        return 0;
    if (!f->form.size_bytes)
        return fail_usage(
            fail, "gso", "--gso cannot send empty datagrams: give a --label or a --size");
    most = DATAGRAM_MAX_IPV4 / f->form.size_bytes;
    if (most > SEGMENTS_MAX)
        most = SEGMENTS_MAX;
    if (f->batch == 1 || f->batch > most)
        f->batch = most ? most : 1;
    return 0;
}

static int make_payloads(struct flow *f, struct fail *fail)
{
    size_t size_bytes = f->form.size_bytes;

    f->payloads = malloc((size_t)f->batch * size_bytes + 1);
    f->calls = calloc((size_t)f->batch, sizeof(*f->calls));
    f->vectors = calloc((size_t)f->batch, sizeof(*f->vectors));
    if (!f->payloads || !f->calls || !f->vectors)
        return fail_set(fail, ENOMEM, "prepare", "the UDP client cannot start");
    for (size_t i = 0; i < f->batch; i++) {
        struct msghdr *m = &f->calls[i].msg_hdr;

        datagram_fill(&f->form, f->payloads + i * size_bytes);
        f->vectors[i].iov_base = f->payloads + i * size_bytes;
        f->vectors[i].iov_len = size_bytes;
        m->msg_iov = &f->vectors[i];
        m->msg_iovlen = 1;
        m->msg_name = f->connected ? NULL : &f->target;
        m->msg_namelen = f->connected ? 0 : f->target_len;
    }
    return 0;
}

static int set_segments(const struct flow *f, struct fail *fail)
{
    int bytes = (int)f->form.size_bytes;

    if (f->gso && setsockopt(f->fd, IPPROTO_UDP, UDP_SEGMENT, &bytes, sizeof(bytes)) < 0)
        return fail_set(fail, errno, "gso", "this kernel cannot segment UDP sends");
    return 0;
}

/*
 * The one socket of the cached strategies. An unconnected one hears of a closed port
 * only with IP_RECVERR.
 */
static int make_cached_socket(struct flow *f, struct fail *fail)
{
    bool is_v6 = f->target.ss_family == AF_INET6;
    int one = 1;

    int err;

    if (f->is_fresh)
        return 0;
    f->fd = udp_flow_socket(f);
    err = f->fd < 0 ? f->fd : udp_flow_connect(f, f->fd);
    if (err < 0)
        return fail_set(fail, -err, "socket", "no socket to %s can be made",
                        f->env->endpoint);
    setsockopt(f->fd, is_v6 ? IPPROTO_IPV6 : IPPROTO_IP,
               is_v6 ? IPV6_RECVERR : IP_RECVERR, &one, sizeof(one));
    return set_segments(f, fail);
}

/* Sockets in parallel may be many: this process may have as many as it is allowed. */
static void raise_descriptor_limit(const struct flow *f)
{
    struct rlimit limit;

    if (!f->is_fresh || !f->is_parallel || getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int use_histograms(struct flow *f, struct fail *fail)
{
    static const enum meter_hist used[] = {METER_HIST_service, METER_HIST_failure,
                                           METER_HIST_connect, METER_HIST_lookup,
                                           METER_HIST_pacing,  METER_HIST_generator};

    for (size_t i = 0; i < NUMBER_OF(used); i++)
        if (meter_use(f->meter, used[i]) < 0)
            return fail_set(fail, ENOMEM, "prepare", "the UDP client cannot start");
    return 0;
}

void udp_prepare_free(struct flow *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->sockets);
    free(f->vectors);
    free(f->calls);
    free(f->payloads);
    free(f);
}

int udp_prepare_check(const struct options *o, struct fail *fail)
{
    struct flow_env env = {.options = o};
    struct flow *f = calloc(1, sizeof(*f));
    int err;

    if (!f)
        return fail_set(fail, ENOMEM, "check", "the UDP client cannot be checked");
    f->env = &env;
    err = read_strategy(f, fail);
    if (err == 0)
        err = read_amounts(f, fail);
    if (err == 0)
        err = read_payload(f, fail);
    if (err == 0)
        err = size_segments(f, fail);
    free(f);
    return err;
}

int udp_prepare(struct flow_env *env, struct flow **flow, struct fail *fail)
{
    static int (*const steps[])(struct flow * f, struct fail * fail) = {
        read_strategy,  read_amounts,       read_payload,  size_segments,  read_target,
        tell_fragments, make_cached_socket, make_payloads, use_histograms,
    };
    struct flow *f = calloc(1, sizeof(*f));
    int err = 0;

    if (!f)
        return fail_set(fail, ENOMEM, "prepare", "the UDP client cannot start");
    f->env = env;
    f->meter = env->meter;
    f->fd = -1;
    for (size_t i = 0; err == 0 && i < NUMBER_OF(steps); i++)
        err = steps[i](f, fail);
    if (err < 0) {
        udp_prepare_free(f);
        return err;
    }
    raise_descriptor_limit(f);
    *flow = f;
    return 0;
}
