//! A run: words with counts in a file, in ascending order, each once.
//!
//! ```text
//! header   "piecework run 1\n"
//! record   1 + the bytes shared with the previous word, the bytes that follow, their number before them,
//!          the count, the first position; all numbers in LEB128
//! end      0, the number of records (u64), and the XXH3 of everything before (u64)
//! ```

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use piecework_core::error::{Error, ErrorKind};

const HEADER: &[u8] = b"piecework run 1\n";
const BUFFER_BYTES: usize = 64 << 10;

/// A word with its count and its first position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordCount<'w> {
    pub word: &'w [u8],
    pub count: u64,
    pub first: u64,
}

/// The order of the words of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunOrder {
    /// By the bytes of the word.
    Word,
    /// By first position, then by the bytes of the word.
    Position,
}

impl RunOrder {
    pub(super) fn compare(self, one: &WordCount<'_>, two: &WordCount<'_>) -> Ordering {
        match self {
            Self::Word => one.word.cmp(two.word),
            Self::Position => one.first.cmp(&two.first).then_with(|| one.word.cmp(two.word)),
        }
    }
}

/// A complete run, and the group of sources that it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The file.
    pub path: PathBuf,
    /// The number in the name of the file.
    pub number: u64,
    /// The group of sources; the words of a group have one weight.
    pub group: u32,
    /// The number of words.
    pub words: u64,
    /// The sum of their counts, at most 2^64 - 1.
    pub occurrences: u64,
}

/// Writes a run.
pub(crate) struct RunWriter {
    out: BufWriter<File>,
    path: PathBuf,
    checksum: Xxh3,
    record: Vec<u8>,
    previous: Vec<u8>,
    words: u64,
    occurrences: u64,
}

impl RunWriter {
    pub(super) fn create(path: PathBuf) -> Result<Self, Error> {
        let file = File::create(&path).map_err(|error| file_error(&path, error))?;
        let mut writer = Self {
            out: BufWriter::with_capacity(BUFFER_BYTES, file),
            path,
            checksum: Xxh3::new(),
            record: HEADER.to_vec(),
            previous: Vec::new(),
            words: 0,
            occurrences: 0,
        };
        writer.write_record()?;
        Ok(writer)
    }

    /// Append a word, which must follow the previous one in the order of the run.
    pub(crate) fn push(&mut self, item: WordCount<'_>) -> Result<(), Error> {
        let shared = self.previous.iter().zip(item.word).take_while(|(one, two)| one == two).count();
        let rest = &item.word[shared..];
        for number in [shared as u64 + 1, rest.len() as u64] {
            write_number(&mut self.record, number);
        }
        self.record.extend_from_slice(rest);
        write_number(&mut self.record, item.count);
        write_number(&mut self.record, item.first);
        self.previous.truncate(shared);
        self.previous.extend_from_slice(rest);
        self.words += 1;
        self.occurrences = self.occurrences.saturating_add(item.count);
        self.write_record()
    }

    /// Complete the file; `durable` waits until the disk has it.
    pub(super) fn finish(mut self, number: u64, group: u32, durable: bool) -> Result<Run, Error> {
        self.record.push(0);
        self.record.extend_from_slice(&self.words.to_le_bytes());
        self.write_record()?;
        let digest = self.checksum.digest().to_le_bytes();
        let written = self.out.write_all(&digest).and_then(|()| self.out.flush());
        let written = written.and_then(|()| if durable { self.out.get_ref().sync_all() } else { Ok(()) });
        written.map_err(|error| file_error(&self.path, error))?;
        let Self { path, words, occurrences, .. } = self;
        Ok(Run { path, number, group, words, occurrences })
    }

    fn write_record(&mut self) -> Result<(), Error> {
        self.checksum.update(&self.record);
        let written = self.out.write_all(&self.record);
        self.record.clear();
        written.map_err(|error| file_error(&self.path, error))
    }
}

/// Reads a run word by word.
#[derive(Debug)]
pub(super) struct RunReader {
    input: ChecksummedFile,
    pub(super) group: u32,
    words_left: u64,
    word: Vec<u8>,
    count: u64,
    first: u64,
}

impl RunReader {
    /// Open a run; `current` is its first word after the first `advance`.
    pub(super) fn open(run: &Run) -> Result<Self, Error> {
        let mut input = ChecksummedFile::open(&run.path)?;
        let mut header = [0; HEADER.len()];
        input.read(&mut header)?;
        if header != HEADER {
            return Err(input.damaged());
        }
        Ok(Self { input, group: run.group, words_left: run.words, word: Vec::new(), count: 0, first: 0 })
    }

    pub(super) fn current(&self) -> WordCount<'_> {
        WordCount { word: &self.word, count: self.count, first: self.first }
    }

    /// Read the next word; return false at the end, after checking the checksum.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        let Some(shared) = self.input.number()?.checked_sub(1) else {
            self.input.check_end(self.words_left)?;
            return Ok(false);
        };
        let rest = self.input.number()? as usize;
        let Some(left) = self.words_left.checked_sub(1).filter(|_| shared as usize <= self.word.len())
        else {
            return Err(self.input.damaged());
        };
        self.words_left = left;
        self.word.truncate(shared as usize);
        self.input.append(rest, &mut self.word)?;
        self.count = self.input.number()?;
        self.first = self.input.number()?;
        Ok(true)
    }
}

/// A file whose bytes are added to a checksum as they are read.
struct ChecksummedFile {
    input: BufReader<File>,
    path: PathBuf,
    checksum: Xxh3,
}

impl std::fmt::Debug for ChecksummedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ChecksummedFile").field(&self.path).finish()
    }
}

impl ChecksummedFile {
    fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|error| file_error(path, error))?;
        let input = BufReader::with_capacity(BUFFER_BYTES, file);
        Ok(Self { input, path: path.to_owned(), checksum: Xxh3::new() })
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.input.read_exact(bytes).map_err(|error| self.read_error(error))?;
        self.checksum.update(bytes);
        Ok(())
    }

    /// Append `len` bytes; a damaged length does not reserve memory.
    fn append(&mut self, len: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        let taken = self.input.by_ref().take(len as u64).read_to_end(out);
        if taken.map_err(|error| self.read_error(error))? < len {
            return Err(self.damaged());
        }
        self.checksum.update(&out[start..]);
        Ok(())
    }

    fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.read(&mut byte)?;
            number |= u64::from(byte[0] & 0x7F) << shift;
            if byte[0] < 0x80 {
                return Ok(number);
            }
        }
        Err(self.damaged())
    }

    fn check_end(&mut self, words_left: u64) -> Result<(), Error> {
        let mut number = [0; 8];
        self.read(&mut number)?;
        let digest = self.checksum.digest();
        self.read(&mut number)?;
        if words_left > 0 || u64::from_le_bytes(number) != digest {
            return Err(self.damaged());
        }
        Ok(())
    }

    fn read_error(&self, error: io::Error) -> Error {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return self.damaged();
        }
        file_error(&self.path, error)
    }

    fn damaged(&self) -> Error {
        let place = self.path.display().to_string();
        Error::new(ErrorKind::Format, place, "damaged or truncated data", "a run that piecework wrote")
    }
}

pub(super) fn file_error(path: &Path, error: io::Error) -> Error {
    let place = path.display().to_string();
    Error::new(ErrorKind::File, place, error.to_string(), "a readable and writable folder with free space")
        .because(error)
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
