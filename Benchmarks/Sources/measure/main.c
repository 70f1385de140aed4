// measure PROGRAM [ARGUMENT...]: runs it and prints microseconds of CPU, microseconds of wall time, its peak memory in
// KiB and its exit status, on one line.
//
// It is a program of its own because the peak that the system reports for a process begins with the memory of whoever
// started it: this one is small.
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long microseconds(struct timeval t) { return t.tv_sec * 1000000LL + t.tv_usec; }

int main(int count, char **arguments) {
  if (count < 2) return 64;
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
      dup2(null, 1);
      dup2(null, 2);
    }
    execvp(arguments[1], arguments + 1);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) < 0) return 1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  long long wall = (end.tv_sec - start.tv_sec) * 1000000LL + (end.tv_nsec - start.tv_nsec) / 1000;
  printf("%lld %lld %ld %d\n", microseconds(usage.ru_utime) + microseconds(usage.ru_stime), wall, usage.ru_maxrss,
         WIFEXITED(status) ? WEXITSTATUS(status) : 128);
  return 0;
}
