#!/bin/sh
# Build libpiecework for C: tools/build_capi.sh PROFILE FOLDER PREFIX
#
# FOLDER gets include/, lib/libpiecework.{a,so.VERSION} with the links to it, and lib/pkgconfig/piecework.pc for PREFIX. The shared library
# is linked from the static one, because rustc passes a version script of its own. Only piecework_* is global in either library.
set -eu
cd "$(dirname "$0")/.."
profile=$1 folder=$2 prefix=$3
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
major=${version%%.*}
# Of the standard library of Rust: `cargo rustc -- --print native-static-libs`, without libgcc_s, which `cc` adds: the static one with -static.
libraries='-lutil -lrt -lpthread -lm -ldl -lc'
lib=$folder/lib

cargo build --quiet --locked --package piecework-capi --profile "$profile"
mkdir -p "$lib/pkgconfig" "$folder/include"
cp crates/capi/include/* "$folder/include"

compiled=target/$profile/libpiecework_capi.a
${CC:-cc} -shared -o "$lib/libpiecework.so.$version" \
  -Wl,-soname,"libpiecework.so.$major" -Wl,--version-script=crates/capi/libpiecework.map \
  -Wl,--gc-sections -Wl,--no-undefined -Wl,-z,relro,-z,now \
  -Wl,--whole-archive "$compiled" -Wl,--no-whole-archive $libraries
ln -sf "libpiecework.so.$version" "$lib/libpiecework.so.$major"
ln -sf "libpiecework.so.$major" "$lib/libpiecework.so"

# One object with what the exported functions need. Its other names are local, so a program can link a second library in Rust.
roots=$(sed -n 's/^    \(piecework_[a-z0-9_]*\)(.*/-u \1/p' crates/capi/src/abi.rs)
ld -r -o "$lib/piecework.o" --gc-sections $roots --whole-archive "$compiled"
objcopy --wildcard --keep-global-symbol='piecework_*' --strip-debug --remove-section='.llvm*' "$lib/piecework.o"
rm -f "$lib/libpiecework.a"
ar rcs "$lib/libpiecework.a" "$lib/piecework.o"
rm "$lib/piecework.o"

sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" -e "s|@LIBS_PRIVATE@|$libraries|" \
  crates/capi/piecework.pc.in > "$lib/pkgconfig/piecework.pc"
