#include "augury/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace augury {
namespace {

Error refused(int sys, const std::string& what, const std::string& path) {
  return {.kind = Error::Kind::io,
          .sys = sys,
          .text = what + ": " + std::generic_category().message(sys),
          .path = path};
}

std::string place(std::uint64_t offset, std::size_t length) {
  return std::to_string(length) + " bytes at offset " + std::to_string(offset);
}

}  // namespace

Result<File> File::open(std::string path) {
  int fd = -1;
  do fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return refused(errno, "cannot open", path);
  return File(fd, std::move(path));
}

File::File(File&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);  // only read from: a failed close loses nothing
}

Result<std::uint64_t> File::size_bytes() const {
  struct stat status{};
  if (::fstat(fd_, &status) != 0) return refused(errno, "cannot ask for the size", path_);
  return static_cast<std::uint64_t>(status.st_size);
}

Result<Done> File::read(std::uint64_t offset, std::span<std::byte> into) const {
  auto rest = into;
  while (!rest.empty()) {
    const auto done = into.size() - rest.size();
    const auto n = ::pread(fd_, rest.data(), rest.size(), static_cast<off_t>(offset + done));
    if (n > 0) {
      rest = rest.subspan(static_cast<std::size_t>(n));
    } else if (n == 0) {
      return Error{.kind = Error::Kind::damaged,
                   .text = "truncated: the file ends inside " + place(offset, into.size()),
                   .path = path_};
    } else if (errno != EINTR) {
      return refused(errno, "cannot read " + place(offset, into.size()), path_);
    }
  }
  return Done{};
}

}  // namespace augury
