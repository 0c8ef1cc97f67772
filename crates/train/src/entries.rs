//! The entries during training: strings by id, and lookup of the merged string of two entries.
//!
//! Strings are hashed as polynomials modulo 2^61 - 1, so the hash of a merged string follows from its
//! parts' and asking for it builds no string. The base is random, so that no corpus can choose strings that collide.

use std::hash::BuildHasher;
use std::rc::Rc;

use foldhash::fast::RandomState;
use hashbrown::hash_table::HashTable;

const MODULUS: u64 = (1 << 61) - 1;

/// The entries in id order; their strings are distinct.
#[derive(Clone)]
pub(super) struct Entries {
    prefix: String,
    base: Base,
    names: Vec<Rc<str>>,
    hashes: Vec<EntryHash>,
    ids: HashTable<u32>,
}

/// The base of the polynomials.
#[derive(Clone, Copy)]
struct Base(u64);

/// The hash and the lengths of an entry, from which those of a merged string follow.
#[derive(Clone, Copy)]
struct EntryHash {
    hash: u64,
    /// The hash of the string without the prefix, and the base to the power of its length in bytes.
    body_hash: u64,
    body_power: u64,
    chars: u32,
    body_chars: u32,
}

impl Entries {
    /// Return entries with these names, each once.
    pub(super) fn of(prefix: &str, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let (prefix, base) = (prefix.to_owned(), Base::random());
        let mut entries =
            Self { prefix, base, names: Vec::new(), hashes: Vec::new(), ids: HashTable::new() };
        names.into_iter().for_each(|name| {
            entries.add(name.as_ref());
        });
        entries
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.names.iter().map(|name| name.as_ref().to_owned()).collect()
    }

    pub(super) fn names(&self) -> &[Rc<str>] {
        &self.names
    }

    /// Return the string of an entry, shared.
    #[inline]
    pub(super) fn name(&self, id: u32) -> Rc<str> {
        Rc::clone(&self.names[id as usize])
    }

    /// Return the id of a string, and whether it is new; add it if it is.
    pub(super) fn add(&mut self, name: &str) -> (u32, bool) {
        let entry_hash = EntryHash::of(name, &self.prefix, self.base);
        let Self { names, hashes, ids, .. } = self;
        if let Some(&id) = ids.find(spread(entry_hash.hash), |&id| *names[id as usize] == *name) {
            return (id, false);
        }
        let id = names.len() as u32;
        names.push(name.into());
        hashes.push(entry_hash);
        ids.insert_unique(spread(entry_hash.hash), id, |&id| spread(hashes[id as usize].hash));
        (id, true)
    }

    /// Return the entry of a string.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.lookup(self.base.extend(name).0, |known| known == name)
    }

    /// Return the entry whose string is `left` followed by `right` without its prefix, in constant time on
    /// average.
    pub(super) fn find_merged(&self, left: u32, right: u32) -> Option<u32> {
        let (one, two) = (&self.hashes[left as usize], &self.hashes[right as usize]);
        let hash = reduce(u128::from(multiply(one.hash, two.body_power)) + u128::from(two.body_hash));
        let (head, tail) = (self.names[left as usize].as_ref(), self.body(right));
        self.lookup(hash, |name| is_both(name, head, tail))
    }

    /// Return the string of `left` followed by that of `right` without its prefix.
    pub(super) fn merged_string(&self, left: u32, right: u32) -> String {
        let mut name = self.names[left as usize].as_ref().to_owned();
        name.push_str(self.body(right));
        name
    }

    /// Count the characters of `left` and `right` merged, the prefix not counted.
    pub(super) fn merged_chars(&self, left: u32, right: u32) -> usize {
        let chars =
            self.hashes[left as usize].chars as usize + self.hashes[right as usize].body_chars as usize;
        if self.prefix.is_empty() {
            return chars;
        }
        let name = &self.names[left as usize];
        let starts = if name.len() >= self.prefix.len() {
            name.starts_with(self.prefix.as_str())
        } else {
            self.merged_string(left, right).starts_with(&self.prefix)
        };
        if starts {
            chars - self.prefix.chars().count()
        } else {
            chars
        }
    }

    /// Visit each pair of entries whose merged string is that of `id`, in time linear in its length.
    pub(super) fn splits(&self, id: u32, mut visit: impl FnMut(u32, u32)) {
        let name = self.names[id as usize].as_ref();
        let ends = self.base.tail_hashes(name);
        let (prefix_hash, _) = self.base.extend(&self.prefix);
        let mut head = 0;
        for (at, byte) in name.bytes().enumerate() {
            if at > 0 && name.is_char_boundary(at) {
                let (tail, power) = ends[at];
                let right_hash = reduce(u128::from(multiply(prefix_hash, power)) + u128::from(tail));
                let right = || self.lookup(right_hash, |right| is_both(right, &self.prefix, &name[at..]));
                if let Some(both) = self.lookup(head, |left| left == &name[..at]).zip(right()) {
                    visit(both.0, both.1);
                }
            }
            head = self.base.append(head, byte);
        }
    }

    fn lookup(&self, hash: u64, same: impl Fn(&str) -> bool) -> Option<u32> {
        let found = |&id: &u32| self.hashes[id as usize].hash == hash && same(&self.names[id as usize]);
        self.ids.find(spread(hash), found).copied()
    }

    fn body(&self, id: u32) -> &str {
        let name = self.names[id as usize].as_ref();
        name.strip_prefix(self.prefix.as_str()).unwrap_or(name)
    }
}

impl EntryHash {
    fn of(name: &str, prefix: &str, base: Base) -> Self {
        let body = name.strip_prefix(prefix).unwrap_or(name);
        let (body_hash, body_power) = base.extend(body);
        let [chars, body_chars] =
            [name, body].map(|text| u32::try_from(text.chars().count()).unwrap_or(u32::MAX));
        Self { hash: base.extend(name).0, body_hash, body_power, chars, body_chars }
    }
}

/// Return whether `whole` is `head` followed by `tail`.
fn is_both(whole: &str, head: &str, tail: &str) -> bool {
    whole.len() == head.len() + tail.len() && whole.starts_with(head) && whole.ends_with(tail)
}

impl Base {
    fn random() -> Self {
        Self(RandomState::default().hash_one(0) >> 4 | 1 << 59)
    }

    /// Return the hash of a text, and the base to the power of its length in bytes.
    fn extend(self, text: &str) -> (u64, u64) {
        text.bytes().fold((0, 1), |(hash, power), byte| (self.append(hash, byte), multiply(power, self.0)))
    }

    fn append(self, hash: u64, byte: u8) -> u64 {
        reduce(u128::from(multiply(hash, self.0)) + u128::from(byte) + 1)
    }

    /// Return by byte offset the `extend` of the rest of the text.
    fn tail_hashes(self, text: &str) -> Vec<(u64, u64)> {
        let mut tails = vec![(0, 1); text.len() + 1];
        for (at, byte) in text.bytes().enumerate().rev() {
            let (hash, power) = tails[at + 1];
            tails[at] = (
                reduce(u128::from(multiply(u64::from(byte) + 1, power)) + u128::from(hash)),
                multiply(power, self.0),
            );
        }
        tails
    }
}

fn multiply(a: u64, b: u64) -> u64 {
    reduce(u128::from(a) * u128::from(b))
}

/// Return the remainder modulo 2^61 - 1 of a product of two remainders.
fn reduce(value: u128) -> u64 {
    let sum = (value as u64 & MODULUS) + (value >> 61) as u64;
    if sum >= MODULUS {
        sum - MODULUS
    } else {
        sum
    }
}

/// Spread 61 bits over the 64 that the hash table uses.
fn spread(hash: u64) -> u64 {
    hash ^ (hash << 3)
}
