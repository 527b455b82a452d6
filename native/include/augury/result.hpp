#pragma once

#include <string>
#include <utility>
#include <variant>

namespace augury {

/// Why something failed. `text` says what was tried and where; `path` is the file, if any.
struct Error {
  enum class Kind {
    io,           ///< the system refused; `sys` is the errno
    damaged,      ///< a file is shorter or longer than it should be
    invalid,      ///< an argument or a table contradicts itself
    held,         ///< the consumer holds every slot of the ring
    stopped,      ///< stop() was called
    interrupted,  ///< the waiting thread was asked to give up
    unexpected,   ///< a bug, or no memory
  };
  Kind kind = Kind::unexpected;
  int sys = 0;  ///< errno, or 0
  std::string text{};
  std::string path{};

  /// One line for people.
  [[nodiscard]] std::string message() const { return path.empty() ? text : path + ": " + text; }
};

/// What a Result holds when success has no value.
using Done = std::monostate;

/// A value or an Error. Expected failures travel as values, so that a reader thread can hand
/// them on; exceptions are for bugs and end at the binding.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace augury
