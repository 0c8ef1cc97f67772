//! The ids of words of one character, in a two-stage table instead of the trie.

use crate::vocab::Vocab;

const BLOCK: usize = 64;

/// The ids in blocks. Most characters share the first block, in which all are unknown.
#[derive(Clone, Debug)]
pub(super) struct CharTokenIds {
    blocks: Vec<u16>,
    ids: Vec<u32>,
}

impl CharTokenIds {
    /// The table of a vocabulary; other characters have the id `unknown`.
    pub(super) fn of(vocab: &Vocab, unknown: u32) -> Self {
        let mut made = Self { blocks: vec![0; 0x11_0000 / BLOCK], ids: vec![unknown; BLOCK] };
        for (token, id) in vocab.iter() {
            if let Some(c) = only_char(token) {
                made.set(c, id, unknown);
            }
        }
        made
    }

    fn set(&mut self, c: char, id: u32, unknown: u32) {
        let block = &mut self.blocks[c as usize / BLOCK];
        if *block == 0 {
            *block = (self.ids.len() / BLOCK) as u16;
            self.ids.resize(self.ids.len() + BLOCK, unknown);
        }
        self.ids[usize::from(*block) * BLOCK + c as usize % BLOCK] = id;
    }

    /// The id of a character.
    #[inline]
    pub(super) fn id(&self, c: char) -> u32 {
        self.ids[usize::from(self.blocks[c as usize / BLOCK]) * BLOCK + c as usize % BLOCK]
    }

    /// The bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.blocks.as_slice()) + size_of_val(self.ids.as_slice())
    }
}

fn only_char(token: &str) -> Option<char> {
    let mut chars = token.chars();
    chars.next().filter(|_| chars.next().is_none())
}
