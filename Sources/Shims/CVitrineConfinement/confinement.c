#define _GNU_SOURCE
#include "vitrine_confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int vitrine_close_descriptors(unsigned first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return 0;
#endif
  long limit = sysconf(_SC_OPEN_MAX);
  for (long descriptor = first; descriptor < limit && descriptor < 65536; descriptor++) close((int)descriptor);
  return limit < 0 ? errno : 0;
}

int vitrine_give_up_privileges(void) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno;
}

int vitrine_leave_namespaces(void) {
  int failure = unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) == 0 ? 0 : errno;
  // A new user namespace gives all of them, and root has them anyway (capabilities(7)).
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  if (syscall(SYS_capset, &header, none) != 0 && failure == 0) failure = errno;
  return failure;
}

// Landlock's interface, which the headers of Debian 12 know only in part (Documentation/userspace-api/landlock.rst).
struct ruleset {
  uint64_t files;
  uint64_t ports;
  uint64_t scopes;
};
struct path_rule {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

int vitrine_forbid_files(const char *const *readable, size_t count) {
  long known = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
  if (known < 0) return errno;
  // 13 rights at first, one more each in versions 2, 3 and 5; ports since version 4, scopes since version 6.
  int rights = 13 + (known >= 2) + (known >= 3) + (known >= 5);
  struct ruleset rules = {(1ull << rights) - 1, 3, 3};
  size_t size = known >= 6 ? 24 : known >= 4 ? 16 : 8;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
  if (ruleset < 0) return errno;
  int failure = 0;
  for (size_t index = 0; index < count && !failure; index++) {
    int folder = open(readable[index], O_PATH | O_CLOEXEC);
    if (folder < 0) continue;
    // Reading files, and listing folders.
    struct path_rule rule = {1 << 2 | 1 << 3, folder};
    if (syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0) != 0) failure = errno;
    close(folder);
  }
  if (!failure && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) failure = errno;
  close(ruleset);
  return failure;
}
