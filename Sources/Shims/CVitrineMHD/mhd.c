#include "vitrine_mhd.h"

#include <limits.h>
#include <malloc.h>

struct MHD_Daemon *vitrine_mhd_start(const struct vitrine_mhd_options *options) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO, 0, NULL, NULL, options->answer, options->context,
      MHD_OPTION_LISTEN_SOCKET, options->listening_socket, MHD_OPTION_CONNECTION_LIMIT, options->connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->bytes_per_connection, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_URI_LOG_CALLBACK, options->began, options->context, MHD_OPTION_NOTIFY_COMPLETED, options->ended,
      options->context, MHD_OPTION_NOTIFY_CONNECTION, options->connection, options->context, MHD_OPTION_END);
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
