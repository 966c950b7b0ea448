#include "protocols/udp/udp_group.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocols/endpoint.h"

static int find_interface(struct udp_group *g, const char *host, struct fail *fail)
{
    struct endpoint e = {.kind = ENDPOINT_UDP};
    struct sockaddr_storage address;
    struct sockaddr_in in;
    socklen_t len;
    int err = endpoint_set_host(&e, host, fail);

    if (err == 0)
        err = endpoint_address(&e, &address, &len, fail);
    if (err < 0)
        return err;
    if (address.ss_family != AF_INET)
        return fail_usage(
            fail, "multicast",
            "--multicast needs an IPv4 --host, whose interface it is joined "
            "on; \"%s\" is none",
            host);
    memcpy(&in, &address, sizeof(in));
    g->interface = in.sin_addr;
    return 0;
}

int udp_group_read(struct udp_group *g, const struct options *o, struct fail *fail)
{
    const char *text = options_text(o, OPTION_multicast, "");

    memset(g, 0, sizeof(*g));
    if (!*text && options_number(o, OPTION_receivers, 1) > 1)
        return fail_usage(fail, "receivers",
                          "--receivers are those of a group: give one by --multicast");
    if (!*text)
        return 0;
    if (inet_pton(AF_INET, text, &g->address) != 1 ||
        !IN_MULTICAST(ntohl(g->address.s_addr)))
        return fail_usage(
            fail, "multicast",
            "--multicast takes an address from 224.0.0.0 to 239.255.255.255, "
            "and \"%.60s\" is none",
            text);
    if (*options_text(o, OPTION_target, ""))
        return fail_usage(
            fail, "multicast",
            "--multicast has receivers of its own, and --target has others");
    g->is_set = true;
    return find_interface(g, options_text(o, OPTION_host, "127.0.0.1"), fail);
}

int udp_group_join(const struct udp_group *g, int fd)
{
    struct ip_mreqn membership = {.imr_multiaddr = g->address,
                                  .imr_address = g->interface};
    int one = 1, zero = 0;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof(membership)) <
            0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &zero, sizeof(zero)) < 0)
        return -errno;
    return 0;
}

/* A connected socket has the own address at which the way to the target begins. */
int udp_group_find_way(struct udp_group *g, struct fail *fail)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = g->interface};
    socklen_t len = sizeof(in);
    int fd, err = 0;

    if (!g->is_set)
        return 0;
    in.sin_port = htons(9); /* any: nothing is sent */
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&in, len) < 0 ||
        getsockname(fd, (struct sockaddr *)&in, &len) < 0)
        err = errno;
    if (fd >= 0)
        close(fd);
    if (err)
        return fail_set(fail, err, "multicast",
                        "no interface leads to the --host of the group");
    g->interface = in.sin_addr;
    return 0;
}

int udp_group_aim(const struct udp_group *g, int fd)
{
    struct ip_mreqn way = {.imr_address = g->interface};
    unsigned char one = 1;

    if (!g->is_set)
        return 0;
    if (setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &way, sizeof(way)) < 0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &one, sizeof(one)) < 0)
        return -errno;
    return 0;
}
