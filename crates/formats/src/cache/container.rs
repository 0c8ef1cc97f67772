//! The file: 64 bytes of header, 48 for each section, then the sections.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | the magic |
//! | 8..16 | XXH3 of all bytes from 16 on |
//! | 16..20, 20..24 | number of the format, mark of the byte order |
//! | 24..32 | length of the file |
//! | 32..36 | number of sections |
//! | 36..64 | version of the library, filled with zeros |
//! | section: 0..32, 32..40, 40..48 | its name, filled with zeros, where it begins, how long it is |

use piecework_core::error::{Error, ErrorKind};
use piecework_core::table_sections::{damaged, Array, TableSections};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"\x93PWC\r\n\x1a\n";
/// The format number; increase it when the layout of any table changes.
const FORMAT: u32 = 1;
/// Shows the byte order of the tables, which is that of the machine.
const BYTE_ORDER: u32 = 0x0102_0304;
const HEADER: usize = 64;
const ENTRY: usize = 48;
const NAME: usize = 32;
const CHECKED_FROM: usize = 16;

/// Return whether a file begins with the magic of a cache.
#[must_use]
pub fn is_cache(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

pub(super) fn write(sections: &TableSections) -> Vec<u8> {
    let count = sections.iter().count();
    let mut list = Vec::with_capacity(ENTRY * count);
    let mut end = HEADER + ENTRY * count;
    for (name, bytes) in sections.iter() {
        let start = end.next_multiple_of(64);
        end = start + bytes.len();
        list.extend_from_slice(&filled::<NAME>(name));
        list.extend_from_slice(&(start as u64).to_ne_bytes());
        list.extend_from_slice(&(bytes.len() as u64).to_ne_bytes());
    }
    let mut file = Vec::with_capacity(end);
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&[0; 8]);
    file.extend_from_slice(&FORMAT.to_ne_bytes());
    file.extend_from_slice(&BYTE_ORDER.to_ne_bytes());
    file.extend_from_slice(&(end as u64).to_ne_bytes());
    file.extend_from_slice(&(count as u32).to_ne_bytes());
    file.extend_from_slice(&filled::<28>(env!("CARGO_PKG_VERSION")));
    file.extend_from_slice(&list);
    for (_, bytes) in sections.iter() {
        file.resize(file.len().next_multiple_of(64), 0);
        file.extend_from_slice(bytes);
    }
    let checksum = xxh3_64(&file[CHECKED_FROM..]);
    file[8..16].copy_from_slice(&checksum.to_ne_bytes());
    file
}

/// Check a file and return its sections, which share the memory of the file.
pub(super) fn read(file: &Array<u8>) -> Result<TableSections, Error> {
    let refused = |place: &str, found: String, expected: String| {
        Err(Error::new(ErrorKind::Format, place, found, expected))
    };
    if !is_cache(file) {
        return refused("magic", "another file".into(), "a cache of piecework".into());
    }
    let Some(header) = file.first_chunk::<HEADER>() else {
        return refused("length", format!("{} bytes", file.len()), format!("a header of {HEADER}"));
    };
    // Versions first: a cache that another one wrote is stale, not damaged.
    if number(header, 20) != BYTE_ORDER || number(header, 16) != FORMAT {
        return refused("format", "another one".into(), format!("{FORMAT}, of this byte order"));
    }
    if header[36..] != filled::<28>(env!("CARGO_PKG_VERSION")) {
        let found = String::from_utf8_lossy(&header[36..]).trim_end_matches('\0').to_owned();
        return refused("version", found, format!("{}, this one: make it anew", env!("CARGO_PKG_VERSION")));
    }
    if long(header, 24) != file.len() as u64 {
        return refused("length", format!("{} bytes", file.len()), format!("{}", long(header, 24)));
    }
    if long(header, 8) != xxh3_64(&file[CHECKED_FROM..]) {
        return refused("checksum", "another one".into(), "that of the content".into());
    }
    sections(file, number(header, 32) as usize)
}

fn sections(file: &Array<u8>, count: usize) -> Result<TableSections, Error> {
    let list = count.checked_mul(ENTRY).and_then(|len| file.get(HEADER..HEADER.checked_add(len)?));
    let list = list.ok_or_else(|| damaged("sections", format!("{count} sections")))?;
    let mut sections = TableSections::default();
    for entry in list.chunks_exact(ENTRY) {
        let (name, place) = entry.split_at(NAME);
        let name = String::from_utf8_lossy(name);
        let (start, len) = (long(place, 0) as usize, long(place, 8) as usize);
        let bytes = start.checked_add(len).and_then(|end| file.view::<u8>(start..end));
        let bytes = bytes.ok_or_else(|| damaged("sections", format!("{len} bytes from {start} on")))?;
        sections.put(name.trim_end_matches('\0'), &bytes);
    }
    Ok(sections)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |number| u32::from_ne_bytes(*number))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |number| u64::from_ne_bytes(*number))
}

/// Return text padded with zeros, or truncated.
fn filled<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let len = text.len().min(N);
    bytes[..len].copy_from_slice(&text.as_bytes()[..len]);
    bytes
}
