#!/bin/sh
# Print the folder of PostgreSQL's server headers; nothing if there is none: tools/postgres_headers.sh FOLDER
#
# Without installed headers, Debian's package of the server's major version is unpacked into FOLDER, and not installed.
set -eu
command -v pg_config > /dev/null || exit 0
installed=$(pg_config --includedir-server)
if [ -f "$installed/postgres.h" ]; then
  echo "$installed"
  exit
fi
command -v apt-get > /dev/null || exit 0
mkdir -p "$1"
cd "$1"
if [ ! -f "$PWD$installed/postgres.h" ]; then
  package=postgresql-server-dev-$(pg_config --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
  apt-get -qq download "$package" >&2 || { apt-get -qq update >&2 && apt-get -qq download "$package" >&2; } || exit 0
  dpkg -x "$package"_*.deb . >&2
  rm "$package"_*.deb
fi
echo "$PWD$installed"
