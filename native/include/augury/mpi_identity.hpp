#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace augury {

/// Which MPI this library was built with, and which one it runs with.
struct MpiIdentity {
  std::string library;     ///< MPI_Get_library_version, asked at run time
  std::string header;      ///< vendor and version of the header at compile time
  std::size_t comm_bytes;  ///< sizeof(MPI_Comm): libraries of different ABI differ in it
};

/// Nothing when built without MPI. MPI need not be initialised.
std::optional<MpiIdentity> mpi_identity();

}  // namespace augury
