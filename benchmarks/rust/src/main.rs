//! Crates that encode, in one run: ids compared, throughput of batches and of single texts.
//!
//! `cargo run --release -- bert-base-uncased/vocab.txt gpt2/tokenizer.json text.txt...`
//!
//! Every measurement has a fresh process, the engines take turns, and the table has the median of the processes. Within
//! a process, a task runs once on other text of the same files to warm the caches, and is then timed until a quarter of a
//! second has passed. An engine whose ids differ from those of `piecework` is left out, and so is one that cannot load the
//! tokenizer; the output says so.

mod engines;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use engines::{Engine, ENGINES};

/// The processes of each engine and task.
const ROUNDS: usize = 7;
/// The least time that is measured in a process.
const MEASURED: Duration = Duration::from_millis(250);
/// The bytes of a text of a batch, and of a single text, at least.
const TASKS: [(&str, usize); 2] = [("batch", 2048), ("single", 60)];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--measure", engine, tokenizer, task, ref files @ ..] => measure(engine, tokenizer, task, files),
        [bert, gpt2, ref files @ ..] if !files.is_empty() => compare([bert, gpt2], files),
        _ => Err("usage: VOCAB.TXT GPT2_TOKENIZER.JSON TEXT...".into()),
    }
}

/// Compare the ids, run all processes and print the table.
fn compare(tokenizers: [&str; 2], files: &[&str]) -> Result<(), Box<dyn Error>> {
    for tokenizer in tokenizers {
        let engines = engines_with_equal_ids(tokenizer, &read(files)?);
        for (task, _) in TASKS {
            let mut found: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for _ in 0..ROUNDS {
                for engine in &engines {
                    found.entry(engine).or_default().push(in_process(engine, tokenizer, task, files)?);
                }
            }
            for (engine, mut figures) in found {
                figures.sort_by(f64::total_cmp);
                let unit = if task == "batch" { "MB/s" } else { "us a text" };
                let [least, median, most] = [0, ROUNDS / 2, ROUNDS - 1].map(|at| figures[at]);
                println!("{tokenizer}  {task:7} {engine:18} {median:8.2} {unit} ({least:.2} to {most:.2})");
            }
        }
    }
    Ok(())
}

/// Return the engines that load a tokenizer and give the ids of the first; print why others do not.
fn engines_with_equal_ids(tokenizer: &str, text: &str) -> Vec<&'static str> {
    let texts = [texts(text, 2048), texts(text, 60)].concat();
    let mut expected = None;
    let has_equal_ids = |name: &&str| {
        let ids = Engine::load(name, tokenizer).and_then(|engine| engine.all_ids(&texts));
        match (ids, &expected) {
            (Ok(ids), None) => {
                let count: usize = ids.iter().map(Vec::len).sum();
                println!("{tokenizer}  {} texts, {count} ids", ids.len());
                expected = Some(ids);
                true
            }
            (Ok(ids), Some(expected)) => {
                let differ = ids.iter().zip(expected).filter(|(found, wanted)| found != wanted).count();
                if differ > 0 {
                    println!("{tokenizer}  {name}: other ids for {differ} of {} texts", ids.len());
                }
                differ == 0
            }
            (Err(error), _) => {
                println!("{tokenizer}  {name}: {error}");
                false
            }
        }
    };
    ENGINES.into_iter().filter(has_equal_ids).collect()
}

/// Run a measurement in a process of its own.
fn in_process(engine: &str, tokenizer: &str, task: &str, files: &[&str]) -> Result<f64, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let output = Command::new(program).args(["--measure", engine, tokenizer, task]).args(files).output()?;
    let text = String::from_utf8(output.stdout)?;
    text.trim().parse().map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned().into())
}

/// Measure a task: print MB/s of a batch, or microseconds a single text.
fn measure(engine: &str, tokenizer: &str, task: &str, files: &[&str]) -> Result<(), Box<dyn Error>> {
    let engine = Engine::load(engine, tokenizer)?;
    let text = read(files)?;
    let bytes = TASKS.iter().find(|(name, _)| *name == task).map_or(0, |(_, bytes)| *bytes);
    let texts = texts(&text, bytes);
    let (warm, timed) = texts.split_at(texts.len() / 2);
    let run = |texts: &[&str]| match task {
        "batch" => black_box(engine.batch(texts)),
        _ => texts.iter().map(|text| black_box(engine.count(text))).sum(),
    };
    run(warm);
    let (mut runs, start) = (0, Instant::now());
    while start.elapsed() < MEASURED {
        run(timed);
        runs += 1;
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(runs);
    let size: usize = timed.iter().map(|text| text.len()).sum();
    let figure =
        if task == "batch" { size as f64 / seconds / 1e6 } else { seconds * 1e6 / timed.len() as f64 };
    println!("{figure}");
    Ok(())
}

fn read(files: &[&str]) -> Result<String, Box<dyn Error>> {
    let texts = files.iter().map(fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
    Ok(texts.concat())
}

/// Cut a text after whitespace into texts of at least `bytes` bytes.
fn texts(text: &str, bytes: usize) -> Vec<&str> {
    let (mut rest, mut texts) = (text, Vec::new());
    while rest.len() > bytes {
        let is_cut = |&(at, char): &(usize, char)| at >= bytes && char.is_whitespace();
        let Some((at, char)) = rest.char_indices().find(is_cut) else { break };
        let (text, after) = rest.split_at(at + char.len_utf8());
        texts.push(text);
        rest = after;
    }
    texts
}
