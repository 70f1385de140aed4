// Vectors of the compiler, from which it makes AVX2 on x86-64 and NEON on arm64. `NATIVE` is defined where there are kernels.
#ifndef VITRINE_VECTORS_H
#define VITRINE_VECTORS_H

#include "vitrine_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
// Not "fma": its sums would differ in the last bit from other processors, and these loops are bound by memory anyway.
#define NATIVE __attribute__((target("avx2")))
#elif defined(__aarch64__)
#include <arm_neon.h>
#define NATIVE
#endif

/// A type of vectors that may be at any address.
#define VECTOR(count) __attribute__((ext_vector_type(count), aligned(1)))

typedef uint8_t bytes VECTOR(32);
typedef int32_t ints VECTOR(8);

#endif
