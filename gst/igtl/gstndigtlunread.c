/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlunread.h"

#ifdef __linux__
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Offset in struct tcp_info of Linux, which only grows. */
#define AT_RECEIVED 128

typedef struct
{
  struct nlmsghdr header;
  struct inet_diag_req_v2 query;
} Request;

typedef union
{
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} Address;

/* Sets one end of a connection, in network byte order. */
static void
set_end (const Address *address, __be16 *port, __be32 *host)
{
  if (address->any.sa_family == AF_INET) {
    *port = address->v4.sin_port;
    memcpy (host, &address->v4.sin_addr, sizeof (address->v4.sin_addr));
  } else {
    *port = address->v6.sin6_port;
    memcpy (host, &address->v6.sin6_addr, sizeof (address->v6.sin6_addr));
  }
}

/* Asks for the socket at the other end of @fd. */
static gboolean
make_request (gint fd, Request *request)
{
  struct inet_diag_sockid *id = &request->query.id;
  Address own = { 0 }, peer = { 0 };
  socklen_t own_size = sizeof (own), peer_size = sizeof (peer);

  if (getsockname (fd, &own.any, &own_size) != 0
      || getpeername (fd, &peer.any, &peer_size) != 0
      || (own.any.sa_family != AF_INET && own.any.sa_family != AF_INET6)
      || own.any.sa_family != peer.any.sa_family)
    return FALSE;
  *request = (Request){
    .header = { .nlmsg_len = sizeof (*request),
        .nlmsg_type = SOCK_DIAG_BY_FAMILY,
        .nlmsg_flags = NLM_F_REQUEST },
    .query = { .sdiag_family = own.any.sa_family,
        .sdiag_protocol = IPPROTO_TCP,
        .idiag_ext = 1 << (INET_DIAG_INFO - 1),
        .idiag_states = G_MAXUINT32 },
  };
  set_end (&peer, &id->idiag_sport, id->idiag_src);
  set_end (&own, &id->idiag_dport, id->idiag_dst);
  id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return TRUE;
}

/* The bytes that have arrived less those that wait. */
static gboolean
parse_answer (const guint8 *answer, gsize size, guint64 *read)
{
  gsize at = NLMSG_LENGTH (sizeof (struct inet_diag_msg));
  struct nlmsghdr header;
  struct inet_diag_msg message;

  if (size < at)
    return FALSE;
  memcpy (&header, answer, sizeof (header));
  memcpy (&message, answer + NLMSG_HDRLEN, sizeof (message));
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return FALSE;
  size = MIN (size, header.nlmsg_len);
  while (at + NLA_HDRLEN <= size) {
    struct nlattr attribute;
    guint64 received;

    memcpy (&attribute, answer + at, sizeof (attribute));
    if (attribute.nla_len < NLA_HDRLEN || attribute.nla_len > size - at)
      return FALSE;
    if (attribute.nla_type == INET_DIAG_INFO
        && attribute.nla_len >= NLA_HDRLEN + AT_RECEIVED + sizeof (received)) {
      memcpy (&received, answer + at + NLA_HDRLEN + AT_RECEIVED,
          sizeof (received));
      *read = received - MIN (received, message.idiag_rqueue);
      return TRUE;
    }
    at += NLA_ALIGN (attribute.nla_len);
  }
  return FALSE;
}

gboolean
gst_nd_igtl_read_by_peer (gint fd, guint64 *read)
{
  guint8 answer[2048];
  Request request;
  gssize size = -1;
  gint diag;

  if (!make_request (fd, &request))
    return FALSE;
  diag = socket (AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (diag < 0)
    return FALSE;
  if (send (diag, &request, sizeof (request), 0) == sizeof (request))
    size = recv (diag, answer, sizeof (answer), MSG_DONTWAIT);
  close (diag);
  return size > 0 && parse_answer (answer, size, read);
}
#else
gboolean
gst_nd_igtl_read_by_peer (gint fd, guint64 *read)
{
  return FALSE;
}
#endif
