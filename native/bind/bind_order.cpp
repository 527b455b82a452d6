#include <memory>

#include "augury/order.hpp"
#include "bind.hpp"

namespace augury::bind {
namespace {

using namespace nb::literals;

using OrderFunction = Result<Done> (Order::*)(std::span<const std::uint64_t>,
                                              std::span<std::uint64_t>) const;

/// A new array that holds what `function` makes of `values`.
nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>> apply(OrderFunction function,
                                                         std::uint64_t num_samples,
                                                         std::uint64_t seed, std::uint64_t epoch,
                                                         const U64s& values) {
  const Order order = take(Order::make(num_samples, seed, epoch));
  auto out = std::make_unique_for_overwrite<std::uint64_t[]>(values.size());
  take([&] {
    nb::gil_scoped_release unlocked;
    return (order.*function)(span_of(values), {out.get(), values.size()});
  }());
  auto* const data = out.release();
  const nb::capsule owner(data, [](void* memory) noexcept {
    const std::unique_ptr<std::uint64_t[]> freed(static_cast<std::uint64_t*>(memory));
  });
  return {data, {values.size()}, owner};
}

}  // namespace

void add_order(nb::module_& m) {
  m.def(
      "order_samples",
      [](std::uint64_t num_samples, std::uint64_t seed, std::uint64_t epoch,
         const U64s& positions) {
        return apply(&Order::samples_at, num_samples, seed, epoch, positions);
      },
      "num_samples"_a, "seed"_a, "epoch"_a, "positions"_a.noconvert(),
      "The samples (uint64 [P]) at `positions` (uint64 [P]) of `epoch`.\n\n"
      "Raises ValueError for a position that is not below num_samples.");
  m.def(
      "order_positions",
      [](std::uint64_t num_samples, std::uint64_t seed, std::uint64_t epoch, const U64s& samples) {
        return apply(&Order::positions_of, num_samples, seed, epoch, samples);
      },
      "num_samples"_a, "seed"_a, "epoch"_a, "samples"_a.noconvert(),
      "The positions (uint64 [P]) of `samples` (uint64 [P]) in `epoch`: the inverse.\n\n"
      "Raises ValueError for a sample that is not below num_samples.");
}

}  // namespace augury::bind
