#include "augury/mpi_identity.hpp"

namespace augury {

std::optional<MpiIdentity> mpi_identity() { return std::nullopt; }

}  // namespace augury
