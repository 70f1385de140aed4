// vips-processing WORK INPUT WIDTH HEIGHT OUTPUT ROUNDS: does the work with libvips on the raw RGB pixels of INPUT, prints the
// median of the milliseconds of CPU time, and writes the raw result. The work "none" reads the pixels and does nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

// The usual way: a mask is drawn by librsvg and joined as alpha.
static int corners(VipsImage *input, VipsImage **output) {
  char text[256];
  snprintf(text, sizeof text, "<svg width='%d' height='%d'><rect width='%d' height='%d' rx='100' ry='100' fill='#fff'/></svg>",
           input->Xsize, input->Ysize, input->Xsize, input->Ysize);
  VipsImage *drawing = NULL, *mask = NULL;
  int failure = vips_svgload_buffer(text, strlen(text), &drawing, NULL) || vips_extract_band(drawing, &mask, 3, NULL) ||
                vips_bandjoin2(input, mask, output, NULL);
  g_clear_object(&drawing);
  g_clear_object(&mask);
  return failure;
}

static int work(const char *name, VipsImage *input, VipsImage **output) {
  if (strcmp(name, "resize-300") == 0) return vips_resize(input, output, 300.0 / input->Xsize, NULL);
  if (strcmp(name, "resize-600") == 0) return vips_resize(input, output, 600.0 / input->Xsize, NULL);
  int isPrecise = strstr(name, "-float") != NULL;
  double sigma = strncmp(name, "blur-", 5) == 0 ? atof(name + 5) : 0;
  if (strncmp(name, "blur-", 5) == 0 && isPrecise) {
    VipsImage *blurred = NULL;
    int failure = vips_gaussblur(input, &blurred, sigma, "precision", VIPS_PRECISION_FLOAT, "min_ampl", 0.005, NULL);
    if (!failure) failure = vips_cast_uchar(blurred, output, NULL);
    g_clear_object(&blurred);
    return failure;
  }
  if (strncmp(name, "blur-", 5) == 0) return vips_gaussblur(input, output, sigma, NULL);
  if (strcmp(name, "rotate-7") == 0) {
    VipsImage *whole = NULL;
    int failure = vips_addalpha(input, &whole, NULL) ||
                  vips_rotate(whole, output, 7, "interpolate", vips_interpolate_new("bicubic"), NULL);
    g_clear_object(&whole);
    return failure;
  }
  if (strcmp(name, "corners") == 0) return corners(input, output);
  return -1;
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
  for (int round = 0; round < rounds && strcmp(arguments[1], "none") != 0; round++) {
    double start = cpu();
    VipsImage *input = vips_image_new_from_memory(pixels, size, width, height, 3, VIPS_FORMAT_UCHAR), *output = NULL;
    size_t length = 0;
    void *result = NULL;
    if (input == NULL || work(arguments[1], input, &output) || !(result = vips_image_write_to_memory(output, &length))) {
      fprintf(stderr, "%s", vips_error_buffer());
      return 70;
    }
    times[round] = cpu() - start;
    if (round == rounds - 1) {
      file = fopen(arguments[5], "wb");
      if (file == NULL || fwrite(result, 1, length, file) != length || fclose(file)) return 74;
    }
    g_free(result);
    g_object_unref(output);
    g_object_unref(input);
  }
  if (strcmp(arguments[1], "none") == 0) return 0;
  qsort(times, rounds, sizeof(double), compare);
  printf("%f\n", times[rounds / 2]);
  return 0;
}
