#!/bin/sh
# Check what `make wasm` needs: `check_wasm_toolchain.sh CARGO RUSTC LINKER`.
for tool in "$@"; do
  command -v "$tool" > /dev/null && continue
  echo "make wasm needs $tool: apt install rustc-web cargo-web rust-web-src lld-19" >&2
  echo "or, with rustup: rustup component add rust-src, and lld" >&2
  exit 1
done
sysroot=$("$2" --print sysroot)
[ -f "$sysroot/lib/rustlib/src/rust/library/std/src/lib.rs" ] && exit 0
echo "make wasm needs the sources of Rust's standard library in $sysroot: apt install rust-web-src" >&2
exit 1
