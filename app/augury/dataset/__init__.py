"""Datasets: how they are computed, how they are indexed, what an index says.

README.md beside this file says which module does what. Training needs the index alone; the
physics and the libraries under it are imported by who makes a dataset.
"""

from augury.dataset.index import Index, describe

__all__ = ["Index", "describe"]
