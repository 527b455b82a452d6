#include "temporary.hpp"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <stdexcept>

namespace augury::check {

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "augury-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a destructor cannot do better
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name,
                                   std::span<const std::byte> bytes) const {
  std::ofstream file(path_ / name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return path_ / name;
}

std::vector<std::byte> bytes_of(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

}  // namespace augury::check
