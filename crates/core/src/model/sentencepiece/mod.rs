//! The four models of SentencePiece: a whole normalized text in, pieces out.
//!
//! Unknown characters are one token with their unknown neighbours, or their bytes where the model has
//! these. A text may be segmented in parts (see [`cuts`]), which gives what it gives as a whole.
//!
//! Kudo and Richardson 2018, "SentencePiece"; checked against `sentencepiece` 0.2.

mod bpe;
mod checks;
mod cuts;
mod emit;
mod equals;
mod interleaved;
mod left_to_right;
mod margin;
mod nbest;
mod queue;
#[cfg(test)]
mod segmentation_tests;
mod segmentations;
mod short;
#[cfg(test)]
mod tests;
mod unigram;
mod viterbi_f32;
mod viterbi_fixed;

pub use cuts::Cut;
pub use margin::{Grade, PathScore};

use self::bpe::Bpe;
use self::emit::Emitter;
use self::unigram::Unigram;
use self::viterbi_fixed::Weighing;
use super::bytes::ByteEntries;
use super::unigram::Drawing;
use super::{ModelScratch, PieceSink};
use crate::error::Error;
use crate::spec::{PieceType, SentencePieceKind, SentencePieceSpec};
use crate::table_sections::TableSections;
use crate::text::PrefixSet;
use crate::vocab::Vocab;

/// A compiled model.
#[derive(Clone, Debug)]
pub struct SentencePiece {
    engine: Engine,
    unk_id: u32,
    /// By id.
    kinds: Vec<PieceType>,
    bytes: Option<ByteEntries>,
    /// User-defined pieces, which characters are never taken out of.
    symbols: Option<PrefixSet>,
    cut: Option<Cut>,
}

#[derive(Clone, Debug)]
enum Engine {
    Unigram(Box<Unigram>),
    Bpe(Box<Bpe>),
    Word,
    Char,
}

/// Memory for one text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    lattice: unigram::Lattice,
    symbols: bpe::Symbols,
    /// The score of the text so far, where it is segmented in parts.
    score: f32,
    drawing: Drawing,
}

impl SentencePiece {
    /// Check the pieces and build the tables.
    pub fn compile(spec: &SentencePieceSpec, vocab: &Vocab) -> Result<Self, Error> {
        Self::restore(spec, vocab, &TableSections::default())
    }

    /// The same, with the trie that `parts` has.
    pub(super) fn restore(
        spec: &SentencePieceSpec,
        vocab: &Vocab,
        parts: &TableSections,
    ) -> Result<Self, Error> {
        let unk_id = checks::check(spec)?;
        let user_defined = spec.pieces.iter().filter(|piece| piece.kind == PieceType::UserDefined);
        Ok(Self {
            engine: match spec.kind {
                SentencePieceKind::Unigram => {
                    Engine::Unigram(Box::new(Unigram::compile(spec, unk_id, parts)?))
                }
                SentencePieceKind::Bpe => Engine::Bpe(Box::new(Bpe::compile(spec, parts)?)),
                SentencePieceKind::Word => Engine::Word,
                SentencePieceKind::Char => Engine::Char,
            },
            unk_id,
            kinds: spec.pieces.iter().map(|piece| piece.kind).collect(),
            bytes: spec.byte_fallback.then(|| ByteEntries::collect(vocab)),
            symbols: PrefixSet::build(user_defined.map(|piece| piece.text.as_str())),
            cut: cuts::cut_of(spec),
        })
    }

    /// Take the trie apart, if there is one.
    pub(super) fn store(&self, parts: &mut TableSections) {
        match &self.engine {
            Engine::Unigram(unigram) => unigram.store(parts),
            Engine::Bpe(bpe) => bpe.store(parts),
            Engine::Word | Engine::Char => {}
        }
    }

    /// The memory of the other tables.
    pub(super) fn derived_bytes(&self) -> usize {
        match &self.engine {
            Engine::Unigram(unigram) => unigram.derived_bytes(),
            Engine::Bpe(bpe) => bpe.derived_bytes(),
            Engine::Word | Engine::Char => 0,
        }
    }

    /// Where texts may be taken apart.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Segment a whole text.
    pub fn run(&self, text: &str, vocab: &Vocab, scratch: &mut ModelScratch, out: &mut impl PieceSink) {
        self.begin(scratch);
        self.run_next(text, vocab, scratch, out);
    }

    /// Begin a text that is segmented in parts.
    pub fn begin(&self, scratch: &mut ModelScratch) {
        scratch.sentencepiece.score = 0.0;
    }

    /// Whether what stands before a part can change its segmentation.
    #[must_use]
    pub fn is_contextual(&self) -> bool {
        matches!(self.engine, Engine::Unigram(_))
    }

    /// Segment the part of a text that begins at byte `start` as if it stood alone, whatever the score before it;
    /// says where it ends and where that is right, if anywhere. No piece goes on over the end of a part; unknown
    /// characters may, which are one token with those that `is_after_unknown` says to stand before it.
    #[inline]
    pub fn weigh_part(
        &self,
        text: &str,
        start: usize,
        is_after_unknown: bool,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
    ) -> (usize, Option<PathScore>) {
        let Engine::Unigram(unigram) = &self.engine else { return (text.len(), None) };
        let weighing = &mut scratch.sentencepiece.lattice.weighing;
        let (end, worth) = unigram.weights.weigh(text, start, weighing);
        match worth {
            Some(worth) if worth.has_unknown => self.write_part(text, weighing, is_after_unknown, out),
            _ => out.extend(weighing.path.iter().map(|piece| piece.id)),
        }
        (end, worth)
    }

    /// Segment the part of a text that begins at byte `start` as it is after the score of all before; says where it
    /// ends, or nothing where only [`SentencePiece::run_next`] can.
    pub fn sum_part(
        &self,
        text: &str,
        start: usize,
        is_after_unknown: bool,
        scratch: &mut ModelScratch,
        out: &mut Vec<u32>,
    ) -> Option<usize> {
        let Engine::Unigram(unigram) = &self.engine else { return None };
        let Scratch { lattice, score, .. } = &mut scratch.sentencepiece;
        let end = unigram.sum_part(text, start, score, &mut lattice.weighing)?;
        self.write_part(text, &lattice.weighing, is_after_unknown, out);
        Some(end)
    }

    /// Append the path through a part.
    fn write_part(&self, text: &str, weighing: &Weighing, is_after_unknown: bool, out: &mut Vec<u32>) {
        let from = out.len();
        self.write(text, &weighing.path, out);
        self.join_unknown(from, is_after_unknown, out);
    }

    /// How many pieces there are.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        self.kinds.len()
    }

    /// The id of unknown characters.
    #[must_use]
    pub fn unk_id(&self) -> u32 {
        self.unk_id
    }

    /// At least what a piece, or a single unknown character, adds to the size of a score, in 64ths; nothing where parts
    /// are not weighed.
    #[must_use]
    pub fn cost(&self, id: u32) -> Option<u32> {
        let Engine::Unigram(unigram) = &self.engine else { return None };
        unigram.weights.are_there().then(|| margin::cost(unigram.scores[id as usize].into()))
    }

    /// Whether ids end with unknown characters that go on with others.
    #[must_use]
    pub fn ends_unknown(&self, ids: &[u32]) -> bool {
        ids.last() == Some(&self.unk_id)
    }

    /// Make one token of unknown characters before and after the place in `ids` where a part was written.
    pub fn join_unknown(&self, from: usize, is_after_unknown: bool, ids: &mut Vec<u32>) {
        if is_after_unknown && ids.get(from) == Some(&self.unk_id) {
            ids.remove(from);
        }
    }

    /// By grade, what the size of the score must stay below with a part, in 64ths.
    #[must_use]
    pub fn limits(&self) -> [u64; 16] {
        let mut limits = [0; 16];
        if let Engine::Unigram(unigram) = &self.engine {
            let of_grades = &unigram.weights.grades.limits;
            limits[..of_grades.len()].copy_from_slice(of_grades);
        }
        limits
    }

    /// Go on with a text that consists of parts each of which is segmented as if it stood alone.
    pub fn repeat_weighed(&self, text: &str, scratch: &mut ModelScratch) {
        let Engine::Unigram(unigram) = &self.engine else { return };
        let Scratch { lattice, score, .. } = &mut scratch.sentencepiece;
        let mut at = 0;
        while at < text.len() {
            (at, _) = unigram.weights.weigh(text, at, &mut lattice.weighing);
            *score = unigram.score_after(*score, lattice.weighing.path.iter().map(|piece| piece.id));
        }
    }

    /// Go on with pieces that an earlier part was segmented into; none may stand for unknown characters.
    pub fn repeat(&self, ids: &[u32], scratch: &mut ModelScratch) {
        if let Engine::Unigram(unigram) = &self.engine {
            let score = &mut scratch.sentencepiece.score;
            *score = unigram.score_after(*score, ids.iter().copied());
        }
    }

    /// The size of the score of the text so far, in 64ths, rounded up.
    #[must_use]
    pub fn score_size(&self, scratch: &ModelScratch) -> u64 {
        margin::in_64ths(scratch.sentencepiece.score.into())
    }

    /// Segment the next part of a text, whatever it costs.
    pub fn run_next(
        &self,
        text: &str,
        vocab: &Vocab,
        scratch: &mut ModelScratch,
        out: &mut impl PieceSink,
    ) {
        let Scratch { lattice, symbols, score, drawing } = &mut scratch.sentencepiece;
        if let Some(draws) = &mut scratch.draws {
            return self.draw(text, vocab, (draws, drawing, symbols), out);
        }
        let mut emitter = Emitter::new(text, self.unk_id, self.bytes.as_ref(), out);
        match &self.engine {
            Engine::Unigram(unigram) => *score = unigram.run(text, *score, lattice, &mut emitter),
            Engine::Bpe(bpe) => bpe.run(text, self, vocab, symbols, None, &mut emitter),
            Engine::Word => self.each_word(text, |start, end| {
                emitter.push(self.id_of(&text[start..end], vocab), start, end);
            }),
            Engine::Char => self.each_symbol(text, 0, |start, end, _| {
                emitter.push(self.id_of(&text[start..end], vocab), start, end);
            }),
        }
        emitter.finish();
    }

    /// Whether short words are joined at once.
    #[must_use]
    pub fn joins(&self, scratch: &ModelScratch) -> bool {
        matches!(&self.engine, Engine::Bpe(bpe) if bpe.joins()) && scratch.draws.is_none()
    }

    /// Join up to `ABREAST` words at once, given as ASCII with spaces for marks and as long as `ShortRows` take them.
    pub fn join(&self, words: &[&[u8]], scratch: &mut ModelScratch) {
        if let Engine::Bpe(bpe) = &self.engine {
            bpe.join(words, &mut scratch.sentencepiece.symbols);
        }
    }

    /// Append the ids of one of the words that were joined last; false where it cannot be told from them.
    pub fn append_joined(&self, row: usize, scratch: &mut ModelScratch, out: &mut Vec<u32>) -> bool {
        let Engine::Bpe(bpe) = &self.engine else { return false };
        bpe.append_joined(row, &mut scratch.sentencepiece.symbols, out)
    }

    /// Give every character, or user-defined piece, of a text from a byte on, and whether it is the latter.
    fn each_symbol(&self, text: &str, mut at: usize, mut visit: impl FnMut(usize, usize, bool)) {
        while let Some(c) = text[at..].chars().next() {
            let symbol = self.symbols.as_ref().and_then(|symbols| symbols.end_at(text, at));
            let end = symbol.unwrap_or(at + c.len_utf8());
            visit(at, end, symbol.is_some());
            at = end;
        }
    }

    /// Where the next user-defined piece of a text begins and ends, from a byte on; the end of the text twice if
    /// there is none.
    fn next_symbol(&self, text: &str, from: usize) -> (usize, usize) {
        let end = (text.len(), text.len());
        let Some(symbols) = &self.symbols else { return end };
        let begins = |at: &usize| symbols.begin_with(text.as_bytes()[*at]);
        let found = (from..text.len()).filter(begins).find_map(|at| Some((at, symbols.end_at(text, at)?)));
        found.unwrap_or(end)
    }

    /// Give every word of a text; each begins with its space.
    fn each_word(&self, text: &str, mut visit: impl FnMut(usize, usize)) {
        let mut start = 0;
        for (at, _) in text.match_indices(cuts::MARK).filter(|&(at, _)| at > 0) {
            visit(start, at);
            start = at;
        }
        if start < text.len() {
            visit(start, text.len());
        }
    }

    /// The piece that a stretch of text is given out as; one that is never found in text is unknown.
    fn id_of(&self, text: &str, vocab: &Vocab) -> u32 {
        let id = vocab.id_of(text).unwrap_or(self.unk_id);
        match self.kinds[id as usize] {
            PieceType::Control => self.unk_id,
            _ => id,
        }
    }

    fn is_unused(&self, id: u32) -> bool {
        self.kinds[id as usize] == PieceType::Unused
    }
}
