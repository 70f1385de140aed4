// libmicrohttpd: its variadic functions as plain ones. This layer makes no decisions.
#ifndef VITRINE_MHD_H
#define VITRINE_MHD_H

#if !__has_include(<microhttpd.h>)
#error "Headers are missing: apt-get install libmicrohttpd-dev"
#endif

#include <microhttpd.h>
#include <stddef.h>
// Swift's module of the C library lacks these.
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// The callbacks and limits of a daemon.
struct vitrine_mhd_options {
  /// The first argument of each callback.
  void *context;
  /// Called with the request line's target as it came; the result is the request's own pointer.
  void *(*began)(void *context, const char *target, struct MHD_Connection *);
  MHD_AccessHandlerCallback answer;
  MHD_RequestCompletedCallback ended;
  MHD_NotifyConnectionCallback connection;
  unsigned connections;
  size_t bytes_per_connection;
};

/// Makes a daemon that answers the connections it is given, with epoll, on the thread that calls MHD_run; NULL if there are no
/// means. Answers have no Date of its own.
struct MHD_Daemon *vitrine_mhd_start(const struct vitrine_mhd_options *);

/// A connection that no daemon has yet, with the address of its client.
struct vitrine_mhd_accepted;

/// Accepts a connection, which does not block and is closed in programs that this one starts; NULL and errno for none.
struct vitrine_mhd_accepted *vitrine_mhd_accept(int socket);

/// Closes a connection.
void vitrine_mhd_refuse(struct vitrine_mhd_accepted *);

/// Gives a connection to a daemon, on the daemon's thread; returns 0 if the daemon has closed it instead.
int vitrine_mhd_add(struct MHD_Daemon *, struct vitrine_mhd_accepted *);

/// The descriptor that becomes readable when there is something to do.
int vitrine_mhd_descriptor(struct MHD_Daemon *);

/// The time in milliseconds after which there is something to do anyway; -1 for never.
int vitrine_mhd_patience(struct MHD_Daemon *);

/// The socket of a connection.
int vitrine_mhd_socket(struct MHD_Connection *);

/// The address of the client, or NULL.
const struct sockaddr *vitrine_mhd_client(struct MHD_Connection *);

/// The pointer that the callback `connection` has stored.
void *vitrine_mhd_socket_context(struct MHD_Connection *);

/// Limits the number of malloc's heaps, where there is such a limit.
void vitrine_mhd_limit_heaps(int count);

#endif
