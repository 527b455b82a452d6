#pragma once

#include <string>
#include <vector>

namespace augury {

/// How this library was built, and what of its machine it can use.
struct BuildInfo {
  std::string version;
  std::string compiler;
  std::string build_type;
  std::vector<std::string> simd;  ///< instruction sets that the compiler was allowed to use
  bool io_uring_header;           ///< at compile time
  bool io_uring_kernel;           ///< now: false also where a container forbids it
};

BuildInfo build_info();

}  // namespace augury
