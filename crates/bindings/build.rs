//! Tell the module which Cargo profile compiles it: `PIECEWORK_PROFILE`.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=PIECEWORK_PROFILE={}", profile());
}

/// Return the name of the profile, `release` or `quick`. Cargo's variable `PROFILE` has `release` for both, but
/// the output folder is `<target>/<profile>/build/<package>/out`.
fn profile() -> String {
    let out = env::var("OUT_DIR").unwrap_or_default();
    let folder = Path::new(&out).ancestors().nth(3);
    let name = folder.and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}
