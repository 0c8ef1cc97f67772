//! Reads damaged tokenizer files and uses the tokenizers, for a number of seconds or of cases.
//!
//!     cargo run --release -p piecework-fuzz -- --seconds 600
//!     cargo run --release -p piecework-fuzz -- --cases 20000 --seed 7
//!
//! Each case damages the structure or the bytes of a file of `corpus/` or `regressions/`, reads it, compiles the
//! tokenizer, encodes and decodes, and damages the compiled cache. A panic, a call of more than one second of
//! processor time, or memory above a multiple of the file size ends the run. The failing case is stored as `fault`
//! with the extension of its kind. Files of tokens that were chosen for hash tables come first: tokens that collide,
//! and tokens and merges that fill slots in a row.
//!
//! Formats that Python reads are damaged here and read there (`tests/faults/damaged_files.py`):
//!
//!     cargo run --release -p piecework-fuzz -- --damage ids.npy --into folder --cases 20 --seed 7

#![forbid(unsafe_code)]

mod caches;
mod colliding;
mod damage;
mod kinds;
mod runs;
mod texts;

use std::alloc::System;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cap::Cap;
use cpu_time::ProcessTime;
use kinds::Kind;
use piecework_core::engine::Tokenizer;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, 4 << 30);

/// The bound on the processor time of one call.
const MAX_TIME: Duration = Duration::from_secs(1);
/// A tokenizer with a slower call, such as one that expands each text to 1 MiB, is called no further.
const SLOW: Duration = Duration::from_millis(5);
/// The memory allowed for any file, for tables and word caches.
const FIXED_BYTES: usize = 64 << 20;
/// The further memory allowed for each byte of the file.
const BYTES_PER_BYTE: usize = 4096;

fn main() {
    let options = Options::read();
    if let (Some(file), Some(folder)) = (&options.damage, &options.into) {
        return write_damaged(file, folder, options.cases, options.seed);
    }
    let seeds = seed_files();
    assert!(!seeds.is_empty(), "no files in fuzz/corpus");
    let started = Instant::now();
    let mut cases = 0;
    for (path, kind) in &seeds {
        run_case(*kind, &fs::read(path).unwrap_or_default(), "", 0);
    }
    let colliding = colliding::files().into_iter().map(|(kind, bytes)| (kind, bytes, String::new()));
    for (kind, bytes, text) in colliding.chain(runs::files()) {
        run_case(kind, &bytes, &text, 0);
    }
    while cases < options.cases && started.elapsed() < options.time {
        let seed = options.seed + cases;
        let mut random = fastrand::Rng::with_seed(seed);
        let (path, kind) = &seeds[random.usize(..seeds.len())];
        let bytes = kind.damaged(&fs::read(path).unwrap_or_default(), &mut random);
        run_case(*kind, &bytes, "", seed);
        cases += 1;
    }
    println!("{cases} cases in {:.0} s, no failure", started.elapsed().as_secs_f64());
}

/// Write damaged copies of a file into a folder, named by their numbers.
fn write_damaged(file: &Path, folder: &Path, cases: u64, seed: u64) {
    let whole = fs::read(file).expect("the file to damage can be read");
    for case in 0..cases {
        let mut random = fastrand::Rng::with_seed(seed + case);
        let bytes = match Kind::of(file) {
            Some(kind) => kind.damaged(&whole, &mut random),
            None => damage::any(&whole, &mut random),
        };
        fs::write(folder.join(case.to_string()), bytes).expect("the folder can be written");
    }
}

/// The arguments: the number of cases, the duration and the first seed; a file to damage, and where.
struct Options {
    damage: Option<PathBuf>,
    into: Option<PathBuf>,
    cases: u64,
    time: Duration,
    seed: u64,
}

impl Options {
    /// Parse the command line.
    fn read() -> Self {
        let arguments: Vec<String> = std::env::args().collect();
        let value = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1)
        };
        let number = |name: &str| value(name)?.parse::<u64>().ok();
        let seconds = number("--seconds");
        Self {
            damage: value("--damage").map(PathBuf::from),
            into: value("--into").map(PathBuf::from),
            cases: number("--cases").unwrap_or(if seconds.is_some() { u64::MAX } else { 20_000 }),
            time: Duration::from_secs(seconds.unwrap_or(3600)),
            seed: number("--seed").unwrap_or(1),
        }
    }
}

/// Return the path of a folder or file in `fuzz/`.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Return the files of the corpus and the regressions with their kinds, sorted by path.
fn seed_files() -> Vec<(PathBuf, Kind)> {
    let files = ["corpus", "regressions"].into_iter().filter_map(|name| fs::read_dir(folder(name)).ok());
    let paths = files.flatten().flatten().map(|entry| entry.path());
    let with_kind = |path: PathBuf| Kind::of(&path).map(|kind| (path, kind));
    let mut seeds: Vec<(PathBuf, Kind)> = paths.filter_map(with_kind).collect();
    seeds.sort_by(|one, other| one.0.cmp(&other.0));
    seeds
}

/// Run one case; panic if it exceeds a bound. `text` is encoded before the texts of all cases.
fn run_case(kind: Kind, bytes: &[u8], text: &str, seed: u64) {
    let case = folder(kind.fault());
    fs::write(&case, bytes).unwrap_or_default();
    let before = MEMORY.allocated();
    let (mut reading, mut using) = (Calls::default(), Calls::default());
    let tokenizer = read_and_use(kind, bytes, text, &mut reading, &mut using);
    let allocated = MEMORY.allocated().saturating_sub(before);
    drop(tokenizer);
    let took = reading.longest.max(using.longest);
    let bound = FIXED_BYTES + BYTES_PER_BYTE * bytes.len();
    assert!(took < MAX_TIME, "seed {seed}: {took:?}; see {}", case.display());
    assert!(
        allocated < bound,
        "seed {seed}: {allocated} bytes allocated, {bound} permitted; see {}",
        case.display()
    );
    fs::remove_file(&case).unwrap_or_default();
}

/// Read a file, compile the tokenizer and call it; return the tokenizer if the file is valid.
fn read_and_use(
    kind: Kind,
    bytes: &[u8],
    text: &str,
    reading: &mut Calls,
    using: &mut Calls,
) -> Option<Tokenizer> {
    let spec = reading.time(|| kind.read(bytes))?;
    let tokenizer = reading.time(|| Tokenizer::compile(&spec)).ok()?;
    texts::encode_and_look_up(&tokenizer, text, using);
    texts::encode_and_decode(&tokenizer, using);
    caches::write_and_damage(&spec, &tokenizer, using);
    Some(tokenizer)
}

/// Measures each call of the library.
///
/// A normalizer may expand a short text to 1 MiB, and a case makes hundreds of calls: only the time of one call is
/// bounded.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    longest: Duration,
}

impl Calls {
    /// Return whether a call was slow but within the bound.
    pub(crate) fn are_slow(&self) -> bool {
        self.longest > SLOW
    }

    /// Make a call and measure its processor time.
    pub(crate) fn time<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let started = ProcessTime::now();
        let result = call();
        self.longest = self.longest.max(started.elapsed());
        result
    }
}
