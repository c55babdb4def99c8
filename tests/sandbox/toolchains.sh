#!/usr/bin/env bash
# Installs the compilers and interpreters that the tests of languages need, so that none is skipped: `.ci/run` may call it, and
# so may anyone who is root on Debian or Ubuntu. Says what it could not do and leaves with 1; harms nothing.
set -euo pipefail
PACKAGES="gcc libc6-dev g++ default-jdk-headless nodejs node-typescript golang-go rustc ruby php-cli php-mbstring php-bcmath php-gmp bash"

missing=()
for package in $PACKAGES; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || { echo "toolchains: all there" >&2; exit 0; }
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "toolchains: ${missing[*]} need root and apt-get" >&2; exit 1; }
echo "toolchains: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update >&2 || true
apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" >&2
