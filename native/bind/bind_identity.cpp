#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "augury/build_info.hpp"
#include "augury/mpi_identity.hpp"
#include "bind.hpp"

namespace augury::bind {
namespace {

nb::object mpi() {
  const auto identity = mpi_identity();
  if (!identity) return nb::none();
  nb::dict out;
  out["library"] = identity->library;
  out["header"] = identity->header;
  out["comm_bytes"] = identity->comm_bytes;
  return out;
}

nb::dict build() {
  const auto info = build_info();
  nb::dict out;
  out["version"] = info.version;
  out["compiler"] = info.compiler;
  out["build_type"] = info.build_type;
  out["simd"] = info.simd;
  out["cuda"] = false;  // no CUDA code in this version
  out["io_uring_header"] = info.io_uring_header;
  out["io_uring_kernel"] = info.io_uring_kernel;
  return out;
}

}  // namespace

void add_identity(nb::module_& m) {
  m.def("mpi_identity", &mpi,
        "The MPI library in use, the header it was built with, and bytes of an MPI_Comm.\n\n"
        "None when built without MPI. MPI need not be initialised.");
  m.def("build_info", &build, "How this module was built, and what of this machine it can use.");
}

}  // namespace augury::bind
