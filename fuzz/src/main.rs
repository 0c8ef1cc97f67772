//! Feeds damaged tokenizer files to the reader, for a number of seconds or of cases.
//!
//!     cargo run --release -p piecework-fuzz -- --seconds 600
//!     cargo run --release -p piecework-fuzz -- --cases 20000 --seed 7
//!
//! Each case takes a file of `corpus/` or `regressions/`, damages its JSON tree, its bytes or both, reads
//! it, compiles what was read and encodes and decodes with that. A panic, a case of over a second of processor
//! time or one that holds more memory than a multiple of its size ends the run; the case is left as `fault.json`.

#![forbid(unsafe_code)]

mod damage;
mod texts;

use std::alloc::System;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cap::Cap;
use cpu_time::ProcessTime;
use piecework_core::pipeline::Pipeline;
use piecework_formats::tokenizer_json;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, 4 << 30);

const MOST_TIME: Duration = Duration::from_secs(1);
/// What tables and the memo take whatever the file, and how much more each byte of it may.
const FIXED_BYTES: usize = 64 << 20;
const BYTES_PER_BYTE: usize = 4096;

fn main() {
    let options = Options::read();
    let seeds = seed_files();
    assert!(!seeds.is_empty(), "no files in fuzz/corpus");
    let started = Instant::now();
    let mut cases = 0;
    for path in &seeds {
        run_case(&fs::read(path).unwrap_or_default(), 0);
    }
    while cases < options.cases && started.elapsed() < options.time {
        let seed = options.seed + cases;
        let mut random = fastrand::Rng::with_seed(seed);
        let path = &seeds[random.usize(..seeds.len())];
        let bytes = damage::damaged(&fs::read(path).unwrap_or_default(), &mut random);
        run_case(&bytes, seed);
        cases += 1;
    }
    println!("{cases} cases in {:.0} s, none at fault", started.elapsed().as_secs_f64());
}

/// How long, and from which seed on.
struct Options {
    cases: u64,
    time: Duration,
    seed: u64,
}

impl Options {
    fn read() -> Self {
        let arguments: Vec<String> = std::env::args().collect();
        let number = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1)?.parse::<u64>().ok()
        };
        let seconds = number("--seconds");
        Self {
            cases: number("--cases").unwrap_or(if seconds.is_some() { u64::MAX } else { 20_000 }),
            time: Duration::from_secs(seconds.unwrap_or(3600)),
            seed: number("--seed").unwrap_or(1),
        }
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn seed_files() -> Vec<PathBuf> {
    let files = ["corpus", "regressions"].into_iter().filter_map(|name| fs::read_dir(folder(name)).ok());
    let mut paths: Vec<PathBuf> = files.flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

/// Run one case and end the process if it is at fault.
fn run_case(bytes: &[u8], seed: u64) {
    let kept = folder("fault.json");
    fs::write(&kept, bytes).unwrap_or_default();
    let (started, before) = (ProcessTime::now(), MEMORY.allocated());
    let tokenizer = read_and_use(bytes);
    let (took, held) = (started.elapsed(), MEMORY.allocated().saturating_sub(before));
    drop(tokenizer);
    let bound = FIXED_BYTES + BYTES_PER_BYTE * bytes.len();
    assert!(took < MOST_TIME, "seed {seed}: {took:?}; see {}", kept.display());
    assert!(held < bound, "seed {seed}: {held} bytes held, {bound} allowed; see {}", kept.display());
    fs::remove_file(&kept).unwrap_or_default();
}

fn read_and_use(bytes: &[u8]) -> Option<Pipeline> {
    let spec = tokenizer_json::read(bytes).ok()?;
    let again = tokenizer_json::read(tokenizer_json::write(&spec, true).as_bytes());
    assert!(again.is_ok(), "what was written cannot be read: {again:?}");
    let pipeline = Pipeline::compile(&spec).ok()?;
    texts::encode_and_decode(&pipeline);
    Some(pipeline)
}
