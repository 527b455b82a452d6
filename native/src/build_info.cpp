#include "augury/build_info.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace augury {
namespace {

std::vector<std::string> simd() {
  return {
#ifdef __SSE2__
      "sse2",
#endif
#ifdef __AVX2__
      "avx2",
#endif
#ifdef __AVX512F__
      "avx512f",
#endif
#ifdef __ARM_NEON
      "neon",
#endif
#ifdef __ARM_FEATURE_SVE
      "sve",
#endif
  };
}

/// A kernel that has io_uring, and lets us use it, gets as far as looking at the parameters.
bool io_uring_kernel() {
#ifdef __NR_io_uring_setup
  return ::syscall(__NR_io_uring_setup, 1, nullptr) < 0 && errno == EFAULT;
#else
  return false;
#endif
}

constexpr bool has_io_uring_header =
#if __has_include(<linux/io_uring.h>)
    true;
#else
    false;
#endif

#ifdef __clang__
constexpr const char* compiler = "Clang " __VERSION__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

}  // namespace

BuildInfo build_info() {
  return {.version = AUGURY_VERSION,
          .compiler = compiler,
          .build_type = AUGURY_BUILD_TYPE,
          .simd = simd(),
          .io_uring_header = has_io_uring_header,
          .io_uring_kernel = io_uring_kernel()};
}

}  // namespace augury
