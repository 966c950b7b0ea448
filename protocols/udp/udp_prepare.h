/* From options to a flow of the role "udp-client"; udp_client.c describes the options. */
#ifndef PROTOCOLS_UDP_UDP_PREPARE_H
#define PROTOCOLS_UDP_UDP_PREPARE_H

#include "protocols/role.h"

/* Whether the values go together, as the role's check. */
int udp_prepare_check(const struct options *o, struct fail *fail);

/* A flow with what is not the event loop's. 0, or a negative errno with a sentence. */
int udp_prepare(struct flow_env *env, struct flow **flow, struct fail *fail);

/* The events and open fresh sockets are the role's, and gone by now. */
void udp_prepare_free(struct flow *f);

#endif
