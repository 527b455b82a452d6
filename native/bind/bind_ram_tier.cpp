#include "bind_ram_tier.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

namespace augury::bind {
namespace {

using namespace nb::literals;

template <class T>
using View = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
using Self = nb::pointer_and_handle<PyRamTier>;

std::uint64_t checked(const Self& self, std::uint64_t sample) {
  if (sample >= self.p->tier.num_samples()) throw nb::index_error("no such sample");
  return sample;
}

}  // namespace

void add_ram_tier(nb::module_& m) {
  nb::class_<PyRamTier>(m, "RamTier", "Samples in memory that the ranks of a node share.")
      .def(nb::init<Array<std::uint8_t>, U64s>(), "memory"_a.noconvert(), "sizes"_a.noconvert(),
           "Attaches to `memory` (uint8, zero-filled when fresh) for samples of `sizes` bytes.\n\n"
           "Raises ValueError when it is too small or belongs to other samples.")
      .def_static(
          "bytes_needed",
          [](const U64s& sizes, std::uint64_t budget) {
            return RamTier::bytes_needed(span_of(sizes), budget);
          },
          "sizes"_a.noconvert(), "budget"_a,
          "Bytes that hold all samples, at most `budget` unless the table alone needs more.")
      .def(
          "get",
          [](Self self, std::uint64_t sample) -> std::optional<View<const std::uint8_t>> {
            const auto bytes = self.p->tier.get(checked(self, sample));
            if (!bytes) return std::nullopt;
            return View<const std::uint8_t>(bytes->data(), {bytes->size()}, self.h);
          },
          "sample"_a, "The bytes of `sample`, read-only; None when it is not ready.")
      .def(
          "claim",
          [](Self self, std::uint64_t sample) -> std::optional<View<std::uint8_t>> {
            const auto room = self.p->tier.claim(checked(self, sample));
            if (!room) return std::nullopt;
            return View<std::uint8_t>(room->data(), {room->size()}, self.h);
          },
          "sample"_a, "Room to fill with `sample`, then publish; None when there is none to give.")
      .def(
          "publish",
          [](Self self, std::uint64_t sample) { self.p->tier.publish(checked(self, sample)); },
          "sample"_a, "Makes a claimed and filled sample ready for all processes.")
      .def_prop_ro(
          "used_bytes", [](const PyRamTier& self) { return self.tier.used_bytes(); },
          "Bytes of the memory in use, the table included.");
}

}  // namespace augury::bind
