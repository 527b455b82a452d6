"""Datasets: how they are computed, how they are indexed, what an index says.

`lpt` and `cosmology` hold the physics, `cosmoflow` one sample, `shards` the HDF5 files,
`make` a whole dataset; `index` is what the rest of augury reads, `verify` builds it from the
files.
"""

from augury.dataset.index import Index, describe
from augury.dataset.make import Made, make_dataset, prepare
from augury.dataset.recipe import Recipe
from augury.dataset.verify import build_index

__all__ = ["Index", "Made", "Recipe", "build_index", "describe", "make_dataset", "prepare"]
