//! `gpt2`: byte-level BPE with the pipeline of a name.

use foldhash::HashSet;
use piecework_core::error::{shortened, Error};
use piecework_core::spec::{BpeSpec, MergeList, PieceType, TokenizerSpec};

use super::framing::{self, Defaults};
use super::keys::{Keys, MERGES};
use super::tokenizer_model::{NamedPipeline, TokenizerModel};
use super::vocabulary::Vocabulary;
use crate::bytes::tokenizer;

pub(super) fn read(
    keys: &Keys,
    vocabulary: &Vocabulary,
    pipeline: NamedPipeline,
) -> Result<TokenizerSpec, Error> {
    let merges = read_merges(keys)?;
    let defaults = Defaults { bos: pipeline.add_bos, eos: false, sep: pipeline.add_sep };
    let post_processor = framing::read(keys, vocabulary, TokenizerModel::Gpt2, &defaults)?;
    let model = BpeSpec {
        vocab: model_entries(vocabulary, &merges),
        merges,
        ignore_merges: pipeline.ignore_merges,
        ..BpeSpec::default()
    };
    Ok(TokenizerSpec {
        normalizer: pipeline.normalizer,
        post_processor,
        ..tokenizer(model, pipeline.pre_tokenizer, vocabulary.added_tokens(pipeline.strips_mask))
    })
}

/// Read the merges, two tokens a line.
pub(super) fn read_merges(keys: &Keys) -> Result<MergeList, Error> {
    let lines = keys.texts(MERGES)?.ok_or_else(|| keys.missing(MERGES, "the merges"))?;
    let mut merges = MergeList::with_capacity(lines.len(), 0);
    for (at, line) in lines.iter().enumerate() {
        // A token may begin with a space, so the first character is part of the left one.
        let first = line.chars().next().map_or(0, char::len_utf8);
        let space = line[first..].find(' ').map(|space| first + space);
        match space.map(|space| (&line[..space], &line[space + 1..])) {
            Some((left, right)) if !right.is_empty() => merges.push(left, right),
            _ => {
                let found = format!("{:?}", shortened(line));
                let expected = "two tokens with a space between them";
                return Err(keys.error_at(MERGES, &format!("[{at}]"), found, expected));
            }
        }
    }
    Ok(merges)
}

/// Return the entries of the model: all tokens but those that only added tokens match.
///
/// A special token that is an entry would be emitted for a word of the same text, with `ignore_merges`.
fn model_entries(vocabulary: &Vocabulary, merges: &MergeList) -> Vec<(String, u32)> {
    let is_added = |kind| matches!(kind, PieceType::Control | PieceType::UserDefined | PieceType::Unknown);
    let added: HashSet<&str> =
        vocabulary.iter().filter(|&(_, _, kind)| is_added(kind)).map(|(token, _, _)| token).collect();
    let mut of_merges: HashSet<&str> = HashSet::default();
    let mut merged = String::new();
    for (left, right) in merges.iter() {
        merged.clear();
        merged.extend([left, right]);
        let parts = [left, right, &merged];
        of_merges.extend(parts.into_iter().filter_map(|part| added.get(part)));
    }
    let is_entry = |token: &str| !added.contains(token) || of_merges.contains(token);
    let entries = vocabulary.iter().filter(|(token, _, _)| is_entry(token));
    entries.map(|(token, id, _)| (token.to_owned(), id)).collect()
}
