#!/usr/bin/env bash
# Every test that this machine allows; `make test` calls it (`lint`: style, types and layers
# only). Ends with a list of what was skipped and why. With CI set, a skipped test is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=$PWD/${VENV:-.venv}
export PATH="$venv/bin:$PATH"
skipped=()

step() { printf '\n== %s\n' "$*"; }

step "style: ruff, clang-format, types, layers"
ruff check .
ruff format --check .
git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror
mypy
lint-imports
if command -v shellcheck >/dev/null; then
  shellcheck share/environment/*.sh tests/*.sh .ci/run
else
  skipped+=("shellcheck: not installed (apt-get install shellcheck)")
fi

if [ "${1:-}" = lint ]; then
  exit 0
fi

for preset in dev asan tsan; do
  step "native tests: $preset"
  cmake --preset "$preset" >build-"$preset".log 2>&1 || { cat build-"$preset".log; exit 1; }
  rm build-"$preset".log
  cmake --build --preset "$preset" | tail -n 1
  ctest --preset "$preset" | tee build/ctest.txt
  while read -r line; do
    skipped+=("native, $preset: $line")
  done < <(grep 'Skipped' build/ctest.txt || true)
done

step "python tests"
pytest -p no:cacheprovider | tee build/pytest.txt

step "benchmark, short form"
python tests/bench/loader/bench.py --short

mapfile -t from_pytest < <(grep '^SKIPPED' build/pytest.txt || true)
skipped+=("${from_pytest[@]}")
if [ "${#skipped[@]}" -gt 0 ]; then
  printf '\nskipped:\n'
  printf '  %s\n' "${skipped[@]}"
  if [ -n "${CI:-}" ]; then
    echo "nothing may be skipped in CI"
    exit 1
  fi
fi
