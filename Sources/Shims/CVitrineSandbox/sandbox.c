#define _GNU_SOURCE
#include "vitrine_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int vitrine_make_shared_memory(size_t size) {
  int memory = memfd_create("vitrine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return -1;
  if (ftruncate(memory, (off_t)size) == 0 &&
      fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    return memory;
  int failure = errno;
  close(memory);
  errno = failure;
  return -1;
}

// Room for one descriptor, aligned as its header must be.
union control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

ssize_t vitrine_send_message(int socket, const void *bytes, size_t count, int descriptor) {
  struct iovec content = {(void *)bytes, count};
  struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1};
  union control control;
  if (descriptor >= 0) {
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
  }
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t vitrine_receive_message(int socket, void *bytes, size_t count, int *descriptor) {
  struct iovec content = {bytes, count};
  union control control;
  struct msghdr message = {
      .msg_iov = &content, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  *descriptor = -1;
  ssize_t received;
  do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received < 0) return -1;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof *descriptor))
    memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
  if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) return received;
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
  errno = EMSGSIZE;
  return -1;
}

static int argument_count;
static char **arguments;

// Glibc calls constructors with the arguments of `main`.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
  argument_count = count;
  arguments = values;
}

const char *vitrine_argument(int index) { return index >= 0 && index < argument_count ? arguments[index] : NULL; }

const char *vitrine_started_path(void) { return (const char *)getauxval(AT_EXECFN); }

static int limit(pid_t process, int resource, uint64_t count) {
  struct rlimit limits;
  if (prlimit(process, resource, NULL, &limits) != 0) return -1;
  limits.rlim_cur = count < limits.rlim_max ? count : limits.rlim_max;
  return prlimit(process, resource, &limits, NULL);
}

int vitrine_limit_memory(pid_t process, uint64_t bytes) { return limit(process, RLIMIT_DATA, bytes); }

int vitrine_limit_processor_time(pid_t process, uint64_t seconds) { return limit(process, RLIMIT_CPU, seconds); }

static void aborted(int signal) {
  (void)signal;
  struct rlimit limits;
  if (errno != ENOMEM) {
    // Only system calls, as in any signal handler. After the return the process ends by the same signal.
    if (getrlimit(RLIMIT_DATA, &limits) != 0 || limits.rlim_cur == RLIM_INFINITY) return;
    if (mmap(NULL, limits.rlim_cur / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) return;
  }
  _exit(VITRINE_OUT_OF_MEMORY);
}

void vitrine_end_when_out_of_memory(void) {
  struct sigaction action = {.sa_handler = aborted, .sa_flags = SA_RESETHAND};
  static const int signals[] = {SIGABRT, SIGTRAP, SIGILL, SIGSEGV, SIGBUS};
  for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) sigaction(signals[index], &action, NULL);
}

int64_t vitrine_processor_time(pid_t process) {
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
