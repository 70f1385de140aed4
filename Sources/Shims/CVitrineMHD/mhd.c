// For accept4.
#define _GNU_SOURCE
#include "vitrine_mhd.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct MHD_Daemon *vitrine_mhd_start(const struct vitrine_mhd_options *options) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO | MHD_USE_SUPPRESS_DATE_NO_CLOCK,
      0, NULL, NULL, options->answer, options->context, MHD_OPTION_CONNECTION_LIMIT, options->connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->bytes_per_connection, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_URI_LOG_CALLBACK, options->began, options->context, MHD_OPTION_NOTIFY_COMPLETED, options->ended,
      options->context, MHD_OPTION_NOTIFY_CONNECTION, options->connection, options->context, MHD_OPTION_END);
}

struct vitrine_mhd_accepted {
  int socket;
  struct sockaddr_storage address;
  socklen_t size;
};

struct vitrine_mhd_accepted *vitrine_mhd_accept(int socket) {
  struct vitrine_mhd_accepted *accepted = malloc(sizeof *accepted);
  if (accepted == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  accepted->size = sizeof accepted->address;
  accepted->socket =
      accept4(socket, (struct sockaddr *)&accepted->address, &accepted->size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (accepted->socket < 0) {
    const int error = errno;
    free(accepted);
    errno = error;
    return NULL;
  }
  return accepted;
}

void vitrine_mhd_refuse(struct vitrine_mhd_accepted *accepted) {
  close(accepted->socket);
  free(accepted);
}

int vitrine_mhd_add(struct MHD_Daemon *daemon, struct vitrine_mhd_accepted *accepted) {
  // It copies the address, and closes the socket if it does not take it.
  const enum MHD_Result result =
      MHD_add_connection(daemon, accepted->socket, (struct sockaddr *)&accepted->address, accepted->size);
  free(accepted);
  return result == MHD_YES;
}

int vitrine_mhd_descriptor(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info == NULL ? -1 : info->epoll_fd;
}

int vitrine_mhd_patience(struct MHD_Daemon *daemon) {
  MHD_UNSIGNED_LONG_LONG milliseconds;
  if (MHD_get_timeout(daemon, &milliseconds) != MHD_YES) {
    return -1;
  }
  return milliseconds < INT_MAX ? (int)milliseconds : INT_MAX;
}

int vitrine_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

const struct sockaddr *vitrine_mhd_client(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}

void *vitrine_mhd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

void vitrine_mhd_limit_heaps(int count) {
#if defined(M_ARENA_MAX)
  mallopt(M_ARENA_MAX, count);
#endif
}
