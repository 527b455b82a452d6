#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "augury/delivery.hpp"
#include "bind_ram_tier.hpp"

namespace augury::bind {
namespace {

using namespace nb::literals;

using U32s = Array<const std::uint32_t>;
using Labels = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A Delivery that keeps the arrays it looks into alive.
struct PyDelivery {
  PyDelivery(std::vector<std::string> files, U64s file_bytes_, U32s extent_file_,
             U64s extent_offset_, U64s extent_length_, U64s extents_begin_, Labels labels_,
             std::vector<std::size_t> sample_shape, std::string source_dtype,
             std::vector<std::string> stages, std::size_t batch, std::size_t depth,
             std::size_t threads, std::shared_ptr<PyRamTier> ram_)
      : file_bytes(std::move(file_bytes_)),
        extent_file(std::move(extent_file_)),
        extent_offset(std::move(extent_offset_)),
        extent_length(std::move(extent_length_)),
        extents_begin(std::move(extents_begin_)),
        labels(std::move(labels_)),
        ram(std::move(ram_)),
        delivery(take(Delivery::make({
            .files = std::move(files),
            .table = {.file_bytes = span_of(file_bytes),
                      .file = span_of(extent_file),
                      .offset = span_of(extent_offset),
                      .length = span_of(extent_length),
                      .begin = span_of(extents_begin)},
            .labels = std::as_bytes(std::span(labels.data(), labels.size())),
            .shape = {.batch = batch,
                      .sample_shape = std::move(sample_shape),
                      .label_bytes = labels.shape(1)},
            .source_dtype = std::move(source_dtype),
            .stages = std::move(stages),
            .depth = depth,
            .threads = threads,
            .ram = ram ? &ram->tier : nullptr,
        }))) {}

  U64s file_bytes;
  U32s extent_file;
  U64s extent_offset;
  U64s extent_length;
  U64s extents_begin;
  Labels labels;
  std::shared_ptr<PyRamTier> ram;  // shared with Python
  std::unique_ptr<Delivery> delivery;
};

bool is_interrupted() {
  const nb::gil_scoped_acquire locked;
  return PyErr_CheckSignals() != 0;
}

std::optional<Lease> next(const PyDelivery& self) {
  return take([&] {
    const nb::gil_scoped_release unlocked;
    return self.delivery->next(is_interrupted);
  }());
}

nb::dict counters(const PyDelivery& self) {
  const auto counts = self.delivery->counters();
  nb::dict out;
  out["source_bytes"] = counts.ring.traffic.source_bytes;
  out["source_reads"] = counts.ring.traffic.source_reads;
  out["source_opens"] = counts.source_opens;
  out["ram_bytes"] = counts.ring.traffic.ram_bytes;
  out["stall_ns"] = counts.ring.stall_ns;
  out["batches"] = counts.ring.batches;
  out["samples"] = counts.ring.samples;
  return out;
}

// The views of a batch: their owner is the Batch object, which holds the slot of the ring.
using Self = nb::pointer_and_handle<Lease>;

nb::ndarray<nb::numpy, float> x_of(Self self) {
  std::vector<std::size_t> shape{self.p->num_samples()};
  const auto& sample_shape = self.p->shape().sample_shape;
  shape.insert(shape.end(), sample_shape.begin(), sample_shape.end());
  return {self.p->x().data(), shape.size(), shape.data(), self.h};
}

nb::ndarray<nb::numpy, std::uint8_t> y_of(Self self) {
  return {self.p->y().data(), {self.p->num_samples(), self.p->shape().label_bytes}, self.h};
}

nb::ndarray<nb::numpy, std::uint64_t> samples_of(Self self) {
  return {self.p->samples().data(), {self.p->num_samples()}, self.h};
}

void add_batch(nb::module_& m) {
  nb::class_<Lease>(m, "Batch", "One batch, in memory of the ring, as long as it or a view lives.")
      .def_prop_ro("x", &x_of, "Decoded samples, float32 [b, *sample_shape].")
      .def_prop_ro("y", &y_of, "Label rows, uint8 [b, L].")
      .def_prop_ro("samples", &samples_of, "Sample numbers, uint64 [b].")
      .def_prop_ro("stall_ns", &Lease::stall_ns, "Time that next() waited for this batch.")
      .def_prop_ro(
          "source_bytes", [](const Lease& self) { return self.traffic().source_bytes; },
          "Bytes of this batch that were read from the source.")
      .def_prop_ro(
          "ram_bytes", [](const Lease& self) { return self.traffic().ram_bytes; },
          "Bytes of this batch that the ram tier served.");
}

}  // namespace

void add_delivery(nb::module_& m) {
  add_batch(m);
  nb::class_<PyDelivery>(m, "Delivery", "Batches in the order of submission, read by threads.")
      .def(nb::init<std::vector<std::string>, U64s, U32s, U64s, U64s, U64s, Labels,
                    std::vector<std::size_t>, std::string, std::vector<std::string>, std::size_t,
                    std::size_t, std::size_t, std::shared_ptr<PyRamTier>>(),
           nb::kw_only(), "files"_a, "file_bytes"_a.noconvert(), "extent_file"_a.noconvert(),
           "extent_offset"_a.noconvert(), "extent_length"_a.noconvert(),
           "extents_begin"_a.noconvert(), "labels"_a.noconvert(), "sample_shape"_a,
           "source_dtype"_a, "stages"_a, "batch"_a, "depth"_a, "threads"_a,
           "ram"_a.none() = nb::none(),
           "Starts the reader threads. Raises ValueError for what does not fit together.")
      .def(
          "submit",
          [](const PyDelivery& self, const U64s& samples, const U64s& batch_ends) {
            take([&] {
              const nb::gil_scoped_release unlocked;
              return self.delivery->submit(span_of(samples), span_of(batch_ends));
            }());
          },
          "samples"_a.noconvert(), "batch_ends"_a.noconvert(),
          "Queues batches: batch i is samples[batch_ends[i-1]:batch_ends[i]].\n\n"
          "Raises ValueError when they do not fit, RuntimeError after stop().")
      .def("next", &next,
           "Waits for the next batch; None when all submitted ones were taken.\n\n"
           "Raises OSError or ValueError for a sample that cannot be read, now and on every\n"
           "further call; RuntimeError after stop(), and when the caller holds every slot.")
      .def(
          "stop",
          [](const PyDelivery& self) {
            const nb::gil_scoped_release unlocked;
            self.delivery->stop();
          },
          "Ends the threads, from any thread, any number of times. Batches stay valid.")
      .def("counters", &counters, "What this delivery has done so far, by name.");
}

}  // namespace augury::bind
