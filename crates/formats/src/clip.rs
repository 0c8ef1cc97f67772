//! CLIP's `bpe_simple_vocab_16e6.txt`: merges only; the vocabulary follows from them.
//!
//! The file has far more merges than the model uses. The entries are the 256 bytes, the same with `</w>`, the
//! merged tokens, and two special tokens: 49,408 in all (Radford et al. 2021, reference code).

use foldhash::{HashMap, HashMapExt};
use piecework_core::error::{Error, ErrorKind};
use piecework_core::spec::{
    AddedToken, BpeSpec, MergeList, NormalizerSpec, PatternSpec, PostProcessorSpec, SplitBehavior,
    TokenizerSpec,
};
use piecework_core::text::printable_of;

use crate::bytes::{self, split_bytes};
use crate::text::{read_merges, Merge};

const MERGES: usize = 48_894;
const START: &str = "<|startoftext|>";
const END: &str = "<|endoftext|>";
const PATTERN: &str =
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+";

/// Read the decompressed file.
pub fn read(bytes: &[u8]) -> Result<TokenizerSpec, Error> {
    let lines = read_merges(bytes)?;
    if lines.len() < MERGES {
        let found = format!("{} merges", lines.len());
        let place = format!("line {}", lines.last().map_or(1, |last| last.0));
        return Err(Error::new(ErrorKind::Format, place, found, format!("at least {MERGES}")));
    }
    check_once(&lines[..MERGES])?;
    let merges: MergeList = lines[..MERGES].iter().map(|&(_, left, right)| (left, right)).collect();
    let entries = entries_of(&merges);
    let special_tokens = [START, END]
        .iter()
        .zip(entries.len() - 2..)
        .map(|(token, id)| AddedToken::special(token, id as u32));
    let special_tokens = special_tokens.collect();
    let model = BpeSpec {
        vocab: entries.into_iter().zip(0..).collect(),
        merges,
        end_of_word_suffix: Some("</w>".to_owned()),
        ..BpeSpec::default()
    };
    Ok(tokenizer(model, special_tokens))
}

/// Reject two merges with the same merged entry, whose id would be that of the later merge.
fn check_once(lines: &[Merge<'_>]) -> Result<(), Error> {
    let mut first_line = HashMap::with_capacity(lines.len());
    for &(number, left, right) in lines {
        let made = format!("{left}{right}");
        if let Some(first) = first_line.insert(made, number) {
            let found =
                format!("a merge to {:?}, which that of line {first} makes too", format!("{left}{right}"));
            let place = format!("line {number}");
            return Err(Error::new(ErrorKind::Vocabulary, place, found, "each entry once"));
        }
    }
    Ok(())
}

fn entries_of(merges: &MergeList) -> Vec<String> {
    let mut alphabet: Vec<char> = (0..=255).map(printable_of).collect();
    // Bytes that are printable themselves come first; all others follow from U+0100 on.
    alphabet.sort_unstable();
    let plain = alphabet.iter().map(char::to_string);
    let marked = alphabet.iter().map(|c| format!("{c}</w>"));
    let made = merges.iter().map(|(left, right)| format!("{left}{right}"));
    plain.chain(marked).chain(made).chain([START.to_owned(), END.to_owned()]).collect()
}

/// CLIP's pipeline: lowercasing, single spaces, and the two special tokens around each text.
pub(crate) fn tokenizer(model: BpeSpec, special_tokens: Vec<AddedToken>) -> TokenizerSpec {
    let id_of = |content: &str| special_tokens.iter().find(|token| token.content == content).map(|t| t.id);
    let framing = id_of(END).zip(id_of(START)).map(|(end, start)| PostProcessorSpec::Roberta {
        sep: (END.to_owned(), end),
        cls: (START.to_owned(), start),
        trim_offsets: false,
        add_prefix_space: false,
    });
    let spaces =
        NormalizerSpec::Replace { pattern: PatternSpec::Regex(r"\s+".to_owned()), content: " ".to_owned() };
    TokenizerSpec {
        normalizer: Some(NormalizerSpec::Sequence(vec![
            NormalizerSpec::Nfc,
            spaces,
            NormalizerSpec::Lowercase,
        ])),
        post_processor: framing,
        ..bytes::tokenizer(
            model,
            split_bytes(PATTERN.to_owned(), SplitBehavior::Removed, true),
            special_tokens,
        )
    }
}
