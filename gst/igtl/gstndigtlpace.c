/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/igtl/gstndigtlpace.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* Offsets in struct tcp_info of Linux, which only grows: the headers of a
 * system may be older than its kernel. */
#define AT_SCALES 6
#define AT_NOT_SENT 144
#define AT_LEAST_RTT 148
#define AT_WINDOW 228
#define INFO_SIZE 232

/* If an answer takes longer, bytes on their way are not bytes that wait. */
#define LOCAL_RTT 10000 /* us */

/* Smaller messages do not change the window of a peer that runs Linux. */
#define WINDOW_MIN 1024

/* The shortest interval, for a peer about which nothing is known. */
#define INTERVAL_MIN 20000 /* us */

/* A peer on this computer that does not read for BURST is not only waiting for
 * a processor. One that takes SLOW for a volume gets the next one later, when
 * that is fresh. Others are looked at again after LOOK. */
#define BURST 5000 /* us */
#define SLOW 50000 /* us */
#define LOOK 2000  /* us */

/* Part of a volume, and bounds of it, that may wait in the socket. */
#define LOW_WATER_PART 8
#define LOW_WATER_MIN (16 * 1024)
#define LOW_WATER_MAX (1024 * 1024)

typedef struct
{
  guint32 window, not_sent, least_rtt;
  guint unit; /* of the window, bytes */
  gsize queued;
} State;

#if defined(TCP_INFO) && defined(TIOCOUTQ)
static guint32
number_at (const guint8 *info, gsize at)
{
  guint32 number;

  memcpy (&number, info + at, sizeof (number));
  return number;
}

static gboolean
get_state (gint fd, State *state)
{
  guint8 info[INFO_SIZE] = { 0 };
  socklen_t size = sizeof (info);
  gint queued = 0;

  if (getsockopt (fd, IPPROTO_TCP, TCP_INFO, info, &size) != 0
      || size < sizeof (info) || ioctl (fd, TIOCOUTQ, &queued) != 0)
    return FALSE;
  *state = (State){ number_at (info, AT_WINDOW), number_at (info, AT_NOT_SENT),
    number_at (info, AT_LEAST_RTT), 1u << (info[AT_SCALES] & 15),
    MAX (queued, 0) };
  return TRUE;
}
#else
static gboolean
get_state (gint fd, State *state)
{
  return FALSE;
}
#endif

/* Takes what became known since the last call, when @unread bytes wait. */
static void
igtl_pace_look (GstNdIgtlPace *pace, const State *state, guint64 sent,
    gsize size, gsize unread)
{
  const guint64 read = sent - MIN (sent, unread);
  const gint64 now = g_get_monotonic_time ();
  const gint64 passed = now - pace->since;

  if (!pace->busy || read >= pace->read + size / 2) {
    if (pace->busy)
      pace->interval = (gdouble) passed * size / (read - pace->read);
    pace->read = read;
    pace->since = now;
  } else if (state->window != pace->window || state->queued != pace->queued) {
    /* It has read nothing until now, and will not soon. */
    pace->interval = MAX (pace->interval, 2 * passed);
  }
  pace->window = state->window;
  pace->queued = state->queued;
  /* More than one volume, and what the window does not tell. */
  pace->busy = unread > size + size / 10 + 2 * state->unit;
}

/* The same for a peer on this computer, which has read @read bytes. Two volumes
 * may wait before it, or one if it is slow. Parts of a volume are read at once,
 * so that whole ones tell how slow it is. */
static gint64
wait_for_local (GstNdIgtlPace *pace, guint64 read, gsize unread, gsize size)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 passed = now - pace->since;
  const gsize volume = size + size / 10;

  if (!pace->busy || read >= pace->read + size) {
    pace->interval /= 2;
    if (pace->busy && unread > 0)
      pace->interval =
          MAX (pace->interval, (gdouble) passed * size / (read - pace->read));
    pace->read = read;
    pace->since = now;
  } else {
    pace->interval = MAX (pace->interval, passed);
  }
  pace->busy = unread > size / 2;
  if (pace->interval > SLOW)
    return unread > volume ? INTERVAL_MIN : 0;
  return unread > 2 * volume && now - pace->since > BURST ? LOOK : 0;
}

gint64
gst_nd_igtl_pace_wait (GstNdIgtlPace *pace, gint fd, guint64 sent, gsize size)
{
  State state;
  gsize unread;
  guint64 read;
  gint64 until;

  if (!pace->elsewhere && gst_nd_igtl_read_by_peer (fd, &read))
    return wait_for_local (pace, read, sent - MIN (sent, read), size);
  pace->elsewhere = TRUE;
  if (size < WINDOW_MIN || !get_state (fd, &state))
    return 0;
  pace->widest = MAX (pace->widest, state.window);
  unread = pace->widest - state.window
      + (state.least_rtt < LOCAL_RTT ? state.queued : state.not_sent);
  igtl_pace_look (pace, &state, sent, size, unread);
  if (!pace->busy)
    return 0;
  until = pace->since
      + MAX (pace->interval, INTERVAL_MIN)
          * ((gdouble) unread / (gdouble) size - .5);
  return MAX (until - g_get_monotonic_time (), 0);
}

void
gst_nd_igtl_pace_limit (GstNdIgtlPace *pace, gint fd, gsize size)
{
#ifdef TCP_NOTSENT_LOWAT
  const gsize low_water = size == 0
      ? G_MAXINT
      : CLAMP (size / LOW_WATER_PART, LOW_WATER_MIN, LOW_WATER_MAX);
  const gint value = low_water;

  if (low_water != pace->low_water)
    setsockopt (fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &value, sizeof (value));
  pace->low_water = low_water;
#endif
}

/* The bytes that a program on this computer has not read from a connection. The
 * system tells them of each of its sockets.
 */

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
