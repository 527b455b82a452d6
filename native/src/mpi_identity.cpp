#include "augury/mpi_identity.hpp"

#include <mpi.h>

#include <array>

namespace augury {
namespace {

std::string header() {
#if defined(OMPI_MAJOR_VERSION)
  return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + "." +
         std::to_string(OMPI_MINOR_VERSION) + "." + std::to_string(OMPI_RELEASE_VERSION);
#elif defined(I_MPI_VERSION)
  return "Intel MPI " I_MPI_VERSION;
#elif defined(MPICH_VERSION)
  return "MPICH " MPICH_VERSION;
#else
  return "MPI " + std::to_string(MPI_VERSION) + "." + std::to_string(MPI_SUBVERSION);
#endif
}

}  // namespace

std::optional<MpiIdentity> mpi_identity() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return MpiIdentity{.library = text.data(), .header = header(), .comm_bytes = sizeof(MPI_Comm)};
}

}  // namespace augury
