#!/bin/sh
# Unpack Debian's Python and musl of another processor into a folder, for an emulator. Nothing is installed.
#
#     tools/foreign_root.sh arm64 build/arm64-root
set -eu
architecture=$1
root=$2

command -v apt-get > /dev/null && command -v dpkg > /dev/null || {
  echo "tools/foreign_root.sh needs Debian's apt-get and dpkg" >&2
  exit 1
}
# A file that marks the end, so that a broken download is repeated.
[ -e "$root/.complete" ] && exit 0

apt=$root.apt
rm -rf "$root" "$apt"
mkdir -p "$root" "$apt/lists/partial" "$apt/archives/partial"
apt=$(cd "$apt" && pwd)
: > "$apt/status"
options="-qq -o APT::Architecture=$architecture -o APT::Architectures=$architecture
  -o Dir::State=$apt -o Dir::State::lists=$apt/lists -o Dir::State::status=$apt/status -o Dir::Cache=$apt
  -o Dir::Cache::archives=$apt/archives -o APT::Sandbox::User=root -o APT::Install-Recommends=false"
# shellcheck disable=SC2086
apt-get $options update
# shellcheck disable=SC2086
apt-get $options --yes --download-only install python3 libstdc++6 musl
for package in "$apt"/archives/*.deb; do
  dpkg -x "$package" "$root"
done
rm -rf "$apt"
touch "$root/.complete"
