#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <utility>

#include "augury/result.hpp"

namespace augury::bind {

namespace nb = nanobind;

/// An array that Python keeps alive; never converted, so never a silent copy.
template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using U64s = Array<const std::uint64_t>;

template <class T>
std::span<T> span_of(const Array<T>& array) {
  return {array.data(), array.size()};
}

/// The one place where an Error becomes a Python exception.
[[noreturn]] void raise(const Error& error);

template <class T>
T take(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

void add_delivery(nb::module_& m);
void add_identity(nb::module_& m);
void add_order(nb::module_& m);
void add_ram_tier(nb::module_& m);

}  // namespace augury::bind
