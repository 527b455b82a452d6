#include "bind.hpp"

#include <nanobind/stl/string.h>

namespace augury::bind {

void raise(const Error& error) {
  switch (error.kind) {
    case Error::Kind::interrupted:
      break;  // PyErr_CheckSignals has set the exception
    case Error::Kind::io: {
      // Called, not set: so the errno chooses the subclass, FileNotFoundError for example.
      const nb::object exception = nb::handle(PyExc_OSError)(error.sys, error.text, error.path);
      PyErr_SetObject(exception.type().ptr(), exception.ptr());
      break;
    }
    case Error::Kind::damaged:
    case Error::Kind::invalid:
      PyErr_SetString(PyExc_ValueError, error.message().c_str());
      break;
    case Error::Kind::held:
    case Error::Kind::stopped:
    case Error::Kind::unexpected:
      PyErr_SetString(PyExc_RuntimeError, error.message().c_str());
      break;
  }
  throw nb::python_error();
}

}  // namespace augury::bind

NB_MODULE(_native, m) {
  m.doc() = "The native half of augury: order, tiers, and delivery of batches.";
  augury::bind::add_order(m);
  augury::bind::add_ram_tier(m);
  augury::bind::add_delivery(m);
  augury::bind::add_identity(m);
}
