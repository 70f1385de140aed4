// vips-encoding SUFFIX INPUT WIDTH HEIGHT OUTPUT ROUNDS: encodes the raw RGB pixels of INPUT with libvips, which takes format
// and options from SUFFIX, such as ".jpg[Q=85]"; prints the median of the milliseconds of CPU time, and writes the file.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <vips/vips.h>

static double cpu(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

int main(int count, char **arguments) {
  if (count != 7 || VIPS_INIT(arguments[0])) return 64;
  vips_concurrency_set(1);
  vips_cache_set_max(0);
  int width = atoi(arguments[3]), height = atoi(arguments[4]), rounds = atoi(arguments[6]);
  size_t size = (size_t)width * height * 3;
  unsigned char *pixels = malloc(size);
  FILE *file = fopen(arguments[2], "rb");
  if (pixels == NULL || file == NULL || fread(pixels, 1, size, file) != size || rounds < 1 || rounds > 99) return 66;
  fclose(file);
  double times[99];
  for (int round = 0; round < rounds; round++) {
    double start = cpu();
    VipsImage *raw = vips_image_new_from_memory(pixels, size, width, height, 3, VIPS_FORMAT_UCHAR), *input = NULL;
    void *result = NULL;
    size_t length = 0;
    // Pixels without a meaning are written as such, and some formats then refuse them.
    if (raw == NULL || vips_copy(raw, &input, "interpretation", VIPS_INTERPRETATION_sRGB, NULL) ||
        vips_image_write_to_buffer(input, arguments[1], &result, &length, NULL)) {
      fprintf(stderr, "%s", vips_error_buffer());
      return 70;
    }
    times[round] = cpu() - start;
    if (round == rounds - 1) {
      file = fopen(arguments[5], "wb");
      if (file == NULL || fwrite(result, 1, length, file) != length || fclose(file)) return 74;
    }
    g_free(result);
    g_object_unref(input);
    g_object_unref(raw);
  }
  qsort(times, rounds, sizeof *times, compare);
  printf("%f\n", times[rounds / 2]);
  return 0;
}
