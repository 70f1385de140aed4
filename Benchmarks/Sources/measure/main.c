// measure [-o FILE] PROGRAM [ARGUMENT...]: runs it and prints microseconds of CPU time, microseconds of wall time, its peak
// memory in KiB and its exit status, on one line. With -o the line goes to FILE, and what the program prints is left alone.
//
// It is a separate program because the system's peak of a process begins with the memory of its parent, and this one is
// small. Orphaned children count too: their CPU time, and their peaks on top of the program's own, although these need
// not coincide.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long microseconds(struct timeval t) { return t.tv_sec * 1000000LL + t.tv_usec; }

int main(int count, char **arguments) {
  FILE *output = stdout;
  if (count > 3 && strcmp(arguments[1], "-o") == 0) {
    output = fopen(arguments[2], "we");
    if (output == NULL) return 74;
    arguments += 2;
    count -= 2;
  }
  if (count < 2) return 64;
  // Orphans of the program become children of this process, which waits for them.
#ifdef __linux__
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    int null = output == stdout ? open("/dev/null", O_RDWR) : -1;
    if (null >= 0) {
      dup2(null, 1);
      dup2(null, 2);
    }
    execvp(arguments[1], arguments + 1);
    _exit(127);
  }
  int status, exit_status = 128;
  long long cpu = 0, wall = 0;
  long peak = 0;
  struct rusage usage;
  for (pid_t ended; (ended = wait4(-1, &status, 0, &usage)) > 0;) {
    cpu += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
    peak += usage.ru_maxrss;
    if (ended != child) continue;
    clock_gettime(CLOCK_MONOTONIC, &end);
    wall = (end.tv_sec - start.tv_sec) * 1000000LL + (end.tv_nsec - start.tv_nsec) / 1000;
    if (WIFEXITED(status)) exit_status = WEXITSTATUS(status);
  }
  fprintf(output, "%lld %lld %ld %d\n", cpu, wall, peak, exit_status);
  return 0;
}
