//! Prompts: texts of which only some parts may contain special tokens.

use std::ops::Range;
use std::sync::OnceLock;

use foldhash::{HashMap, HashSet};

use super::Encoder;
use crate::encoding::{Encoding, Token, NONE};
use crate::engine::{offsets_in, Input, Options, Tokenizer};
use crate::error::{shortened, Error, ErrorKind};
use crate::spec::{
    AddedToken, BpeSpec, MetaspaceSpec, ModelSpec, NormalizerSpec, PreTokenizerSpec, PrependScheme,
    TokenizerSpec, UnigramSpec,
};
use crate::stages::added_tokens::Selector;
use crate::text::{byte_entry, METASPACE};

/// Names that special tokens have in every published vocabulary. `<|endoftext|>`, for instance, is also text.
const CUSTOMARY_NAMES: [&str; 16] = [
    "[UNK]",
    "<unk>",
    "<s>",
    "<bos>",
    "<|begin_of_text|>",
    "</s>",
    "<eos>",
    "<|end_of_text|>",
    "[SEP]",
    "<sep>",
    "[PAD]",
    "<pad>",
    "[CLS]",
    "<cls>",
    "[MASK]",
    "<mask>",
];

/// Encodes prompts: text without permission never becomes a *guarded* token.
///
/// These are special tokens and, unless the caller names others, all added tokens except whitespace. Special tokens that
/// are no added tokens count too: those of the post-processor, of padding and of a role, control pieces of SentencePiece,
/// and pieces of a Unigram model with customary names, such as `</s>`. The unknown token and byte tokens represent unknown
/// text, and never their own.
#[derive(Debug)]
pub struct Prompts {
    /// Encodes texts with permission that contain a special token: all of them are added tokens. `None` if the tokenizer
    /// has no added tokens then.
    prompts: Option<Encoder>,
    guarded: GuardedTokens,
    /// For the tokenizer and for `prompts`: an encoder whose model never makes a guarded token, compiled at first use.
    without: [OnceLock<Option<Encoder>>; 2],
}

#[derive(Debug)]
struct GuardedTokens {
    ids: HashSet<u32>,
    /// Those that include the whitespace around them.
    strip: HashSet<u32>,
    /// The added tokens that are not guarded.
    everywhere: Vec<u32>,
    /// The tokens that represent unknown text, by their content: the unknown token, and byte tokens that the model
    /// matches.
    fallback: HashMap<u32, String>,
}

impl Prompts {
    /// Prepare a tokenizer for prompts. `roles` are tokens that are special because of a role, `markers` the added tokens
    /// that are guarded besides special ones.
    ///
    /// Fails for a marker that is not an added token.
    pub fn new(tokenizer: &Tokenizer, roles: &[String], markers: Option<&[String]>) -> Result<Self, Error> {
        let prompts = prompt_tokenizer(tokenizer, roles)?;
        let guarded = GuardedTokens::new(tokenizer, prompts.as_ref(), markers)?;
        Ok(Self { prompts: prompts.map(Encoder::new), guarded, without: Default::default() })
    }

    /// Return the special tokens that are added tokens of prompts.
    pub fn special(&self) -> impl Iterator<Item = &str> {
        let prompts = self.prompts.iter().flat_map(|encoder| encoder.tokenizer().special_tokens());
        prompts.map(|(content, _)| content)
    }

    /// Encode a text in which guarded tokens match within the `permitted` byte spans only. `encoder` is one of the
    /// tokenizer that the prompts were prepared for.
    ///
    /// If the model makes a guarded token from other text, the text is segmented without these tokens. Fails if a model
    /// cannot do that: one of characters, or for a token of one character.
    pub fn encode(
        &self,
        encoder: &Encoder,
        text: &str,
        permitted: &[Range<usize>],
        add_special_tokens: bool,
    ) -> Result<Encoding, Error> {
        let spans = permitted.iter().map(|span| (span.start as u32, span.end as u32)).collect();
        let parse_special = &Selector::within(spans, self.guarded.everywhere.clone())?;
        let options = Options { add_special_tokens, parse_special, sampling: None };
        let encode = |encoder: &Encoder| {
            let tokenizer = encoder.tokenizer();
            encoder.with_scratch(|scratch| tokenizer.encode(Input::Text(text), None, options, scratch))
        };
        let (encoder, without) = self.encoder_for(encoder, text, permitted)?;
        let encoding = encode(encoder)?;
        let encoded = EncodedPrompt { encoding: &encoding, text, permitted };
        let made = self.guarded.made_by_model(encoded);
        if made.is_none() && !self.guarded.spells_fallback(encoder.tokenizer(), encoded)? {
            return Ok(encoding);
        }
        let Some(without) = self.without_guarded(encoder.tokenizer(), without)? else {
            return made.map_or(Ok(encoding), |made| Err(made.error(encoder.tokenizer())));
        };
        let encoding = encode(without)?;
        match self.guarded.made_by_model(EncodedPrompt { encoding: &encoding, text, permitted }) {
            Some(made) => Err(made.error(encoder.tokenizer())),
            None => Ok(encoding),
        }
    }

    /// Return the encoder that never makes a guarded token; `None` if the model cannot leave tokens out.
    fn without_guarded<'e>(
        &self,
        tokenizer: &Tokenizer,
        place: &'e OnceLock<Option<Encoder>>,
    ) -> Result<Option<&'e Encoder>, Error> {
        if let Some(encoder) = place.get() {
            return Ok(encoder.as_ref());
        }
        let ids = self.guarded.ids.iter().chain(self.guarded.fallback.keys()).copied().collect();
        let made = tokenizer.without_tokens(&ids)?.map(Encoder::new);
        Ok(place.get_or_init(|| made).as_ref())
    }

    /// Return the encoder for a text, and the place of the one without guarded pieces.
    fn encoder_for<'e>(
        &'e self,
        encoder: &'e Encoder,
        text: &str,
        permitted: &[Range<usize>],
    ) -> Result<(&'e Encoder, &'e OnceLock<Option<Encoder>>), Error> {
        if let Some(prompts) = &self.prompts {
            for span in permitted {
                if prompts.tokenizer().find_special(&text[span.clone()], &Selector::All)?.is_some() {
                    return Ok((prompts, &self.without[1]));
                }
            }
        }
        Ok((encoder, &self.without[0]))
    }
}

/// An encoded prompt.
#[derive(Clone, Copy)]
struct EncodedPrompt<'e, 't> {
    encoding: &'e Encoding,
    text: &'t str,
    /// The spans of the text that may become special tokens.
    permitted: &'e [Range<usize>],
}

/// A guarded token that the model made from text without permission.
struct Made<'t> {
    id: u32,
    text: &'t str,
}

impl Made<'_> {
    fn error(&self, tokenizer: &Tokenizer) -> Error {
        let token = tokenizer.token_of(self.id).unwrap_or_default();
        let found = format!(
            "the text {:?}, of which the model makes the token {token:?} without added tokens",
            shortened(self.text)
        );
        let expected =
            "text of which the model makes no special token (markers= names the added tokens to guard)";
        Error::new(ErrorKind::SpecialToken, "segments", found, expected)
    }
}

impl GuardedTokens {
    fn new(
        tokenizer: &Tokenizer,
        prompts: Option<&Tokenizer>,
        markers: Option<&[String]>,
    ) -> Result<Self, Error> {
        let added = prompts.map_or(&[][..], Tokenizer::added_tokens);
        let names: HashSet<u32> = added.iter().map(|token| token.id).collect();
        // Control pieces are added tokens of prompts: these are the user-defined ones.
        let symbols: Vec<(u32, &str)> = tokenizer
            .symbol_ids()
            .into_iter()
            .filter(|id| !names.contains(id))
            .filter_map(|id| Some((id, tokenizer.token_of(id)?)))
            .collect();
        for marker in markers.unwrap_or_default() {
            let is_known = added.iter().any(|token| token.content == *marker)
                || symbols.iter().any(|(_, symbol)| symbol == marker);
            if !is_known {
                let (found, expected) =
                    (format!("{:?}", shortened(marker)), "added tokens of the tokenizer");
                return Err(Error::new(ErrorKind::Argument, "markers", found, expected));
            }
        }
        let is_marker = |content: &str, by_itself: fn(&str) -> bool| match markers {
            Some(markers) => markers.iter().any(|marker| marker == content),
            None => by_itself(content),
        };
        let (guarded, others): (Vec<_>, Vec<_>) =
            added.iter().partition(|token| token.special || is_marker(&token.content, is_no_space));
        let mut ids: HashSet<u32> = guarded.iter().map(|token| token.id).collect();
        ids.extend(
            symbols.iter().filter(|(_, symbol)| is_marker(symbol, is_long_symbol)).map(|(id, _)| id),
        );
        let strips = guarded.iter().filter(|token| token.lstrip || token.rstrip);
        Ok(Self {
            ids,
            strip: strips.map(|token| token.id).collect(),
            everywhere: others.iter().map(|token| token.id).collect(),
            fallback: fallback_tokens(tokenizer),
        })
    }

    /// Return whether a token of unknown text may be one that text without permission spells: then that text, as the model
    /// sees it, contains the token's content.
    fn spells_fallback(
        &self,
        tokenizer: &Tokenizer,
        encoded: EncodedPrompt<'_, '_>,
    ) -> Result<bool, Error> {
        let made = self.made(encoded, |id| self.fallback.contains_key(&id));
        let mut ids: Vec<u32> = made.iter().map(|made| made.id).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(false);
        }
        let normalized = tokenizer.normalize(encoded.text)?;
        Ok(ids.iter().any(|id| {
            let content = &self.fallback[id];
            // A byte-level pre-tokenizer changes other characters, and spaces.
            !content.is_ascii() || normalized.contains(content.trim())
        }))
    }

    /// Return the first guarded token that the model made from text without permission.
    fn made_by_model<'t>(&self, encoded: EncodedPrompt<'_, 't>) -> Option<Made<'t>> {
        let is_guarded = |id| self.ids.contains(&id) && !self.fallback.contains_key(&id);
        self.made(encoded, is_guarded).into_iter().next()
    }

    /// Return the tokens of some ids that the model made from text without permission.
    fn made<'t>(&self, encoded: EncodedPrompt<'_, 't>, has: impl Fn(u32) -> bool) -> Vec<Made<'t>> {
        let EncodedPrompt { encoding, text, permitted } = encoded;
        let is_wanted = |token: &&Token| token.sequence != NONE && has(token.id);
        let tokens: Vec<Token> = encoding.tokens.iter().filter(is_wanted).copied().collect();
        let spans = match tokens.is_empty() {
            true => Vec::new(),
            false => offsets_in(&tokens, &[Input::Text(text)], char::len_utf8),
        };
        let outside = |(token, (start, end)): (&Token, (usize, usize))| {
            let matched = &text[start..end];
            let (start, end) = match self.strip.contains(&token.id) {
                true => (end - matched.trim_start().len(), start + matched.trim_end().len()),
                false => (start, end),
            };
            let before = permitted[..permitted.partition_point(|span| span.start <= start)].last();
            let is_permitted = before.is_some_and(|span| end <= span.end);
            (!is_permitted).then_some(Made { id: token.id, text: matched })
        };
        tokens.iter().zip(spans).filter_map(outside).collect()
    }
}

/// Return the tokens that represent unknown text: the unknown token, and byte tokens that the model also matches.
fn fallback_tokens(tokenizer: &Tokenizer) -> HashMap<u32, String> {
    let has_bytes = matches!(
        tokenizer.stages().model_spec.settings(),
        ModelSpec::Unigram(UnigramSpec { byte_fallback: true, .. })
            | ModelSpec::Bpe(BpeSpec { byte_fallback: true, ignore_merges: true, .. })
    );
    let bytes =
        (0..=u8::MAX).filter(|_| has_bytes).filter_map(|byte| tokenizer.vocab().id_of(&byte_entry(byte)));
    let ids = bytes.chain(tokenizer.unk_id());
    ids.filter_map(|id| Some((id, tokenizer.token_of(id)?.to_owned()))).collect()
}

/// Return whether an added token is more than whitespace, which text of users contains too.
fn is_no_space(content: &str) -> bool {
    !content.replace(METASPACE, "").trim().is_empty()
}

/// Return whether a user-defined piece is more than whitespace and than one character: XLNet has pieces for `.` and `(`.
fn is_long_symbol(symbol: &str) -> bool {
    is_no_space(symbol) && symbol.trim_matches([METASPACE, ' ']).chars().count() > 1
}

/// Return the tokenizer whose added tokens are all special tokens; `None` if it has no added tokens.
fn prompt_tokenizer(tokenizer: &Tokenizer, roles: &[String]) -> Result<Option<Tokenizer>, Error> {
    let spec = tokenizer.stages_spec();
    let unk_id = tokenizer.unk_id();
    let mut added_tokens = spec.added_tokens.clone();
    for content in special_contents(tokenizer, &spec, roles) {
        let is_new = added_tokens.iter().all(|token| token.content != content);
        let id =
            tokenizer.id_of(&content).filter(|id| is_new && !content.is_empty() && Some(*id) != unk_id);
        added_tokens.extend(id.map(|id| AddedToken::special(&content, id)));
    }
    if added_tokens.is_empty() {
        return Ok(None);
    }
    tokenizer.with_stages(prefixed_once(TokenizerSpec { added_tokens, ..spec })).map(Some)
}

/// Return the special tokens that the stages and the roles name.
fn special_contents(tokenizer: &Tokenizer, spec: &TokenizerSpec, roles: &[String]) -> Vec<String> {
    // One character, such as the `!` that pads some of CLIP's, is text of users too.
    let of_padding = spec.padding.iter().map(|padding| &padding.pad_token);
    let is_long = |token: &&String| token.trim().chars().count() > 1;
    let mut found: Vec<String> = roles.iter().chain(of_padding).filter(is_long).cloned().collect();
    found.extend(tokenizer.control_pieces());
    if matches!(tokenizer.stages().model_spec.settings(), ModelSpec::Unigram(_)) {
        found.extend(CUSTOMARY_NAMES.map(str::to_owned));
    }
    let of_processor = spec.post_processor.iter().flat_map(|processor| processor.tokens(""));
    found.extend(of_processor.map(|(_, token, _)| token.to_owned()));
    found
}

/// Return the stages that add the dummy prefix of SentencePiece at the beginning of the text only.
///
/// A model that keeps spaces (Llama's, Mistral's) adds one at the beginning of a prompt, not after each special token, as
/// `LlamaTokenizer` of transformers does. One that removes extra spaces (T5's) adds it to each text between special
/// tokens, as there.
fn prefixed_once(mut spec: TokenizerSpec) -> TokenizerSpec {
    let Some(NormalizerSpec::SentencePiece(normalizer)) = &mut spec.normalizer else { return spec };
    let is_prefix = normalizer.add_dummy_prefix && !normalizer.treat_whitespace_as_suffix;
    if spec.pre_tokenizer.is_some() || !is_prefix || normalizer.remove_extra_whitespaces {
        return spec;
    }
    normalizer.add_dummy_prefix = false;
    let replacement = if normalizer.escape_whitespaces { METASPACE } else { ' ' };
    let metaspace = MetaspaceSpec { replacement, prepend_scheme: PrependScheme::First, split: false };
    spec.pre_tokenizer = Some(PreTokenizerSpec::Metaspace(metaspace));
    spec
}
