#!/usr/bin/env bash
# Run a command that compiles: with cargo's own progress on a terminal, otherwise with a line for each crate of piecework.
#
#     tools/show_build.sh LOG COMMAND...
#
# Without a terminal, all output goes to LOG, and to stderr if the command fails.
set -uo pipefail
log=$1
shift
[ -t 2 ] && exec "$@"
"$@" 2>&1 | tee "$log" | { grep --line-buffered 'Compiling piecework' || true; } && exit
cat "$log" >&2
exit 1
