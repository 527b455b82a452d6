#include "augury/mpi_identity.hpp"

#include "check.hpp"

TEST("the MPI library says what it is, before MPI is initialised") {
  const auto identity = augury::mpi_identity();
  if (!identity) augury::check::skip("built without MPI");
  CHECK(!identity->library.empty());
  CHECK(!identity->header.empty());
  CHECK(identity->comm_bytes == 4 || identity->comm_bytes == 8);
}
