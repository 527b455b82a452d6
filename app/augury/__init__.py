"""augury: clairvoyant data staging and SPMD training of scientific workloads."""

from importlib.metadata import version

__version__ = version("augury")
__all__ = ["__version__"]
