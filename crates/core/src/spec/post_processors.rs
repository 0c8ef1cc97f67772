//! Post-processors, as in `tokenizer.json`.

use super::ByteLevelSpec;

/// The `post_processor` of a tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostProcessorSpec {
    /// `BertProcessing`: `cls A sep`, or `cls A sep B sep` with type id 1 for B and its `sep`.
    Bert {
        /// The token that ends a sequence, and its id.
        sep: (String, u32),
        /// The token that begins the encoding, and its id.
        cls: (String, u32),
    },
    /// `RobertaProcessing`: `cls A sep`, or `cls A sep sep B sep`, with type id 0.
    Roberta {
        /// The token that ends a sequence, and its id.
        sep: (String, u32),
        /// The token that begins the encoding, and its id.
        cls: (String, u32),
        /// Excludes leading and trailing spaces from offsets.
        trim_offsets: bool,
        /// The pre-tokenizer added a space before the text; offsets of the first token keep it.
        add_prefix_space: bool,
    },
    /// `ByteLevel`: trims offsets if `trim_offsets` is set; add no tokens.
    ByteLevel(ByteLevelSpec),
    /// `TemplateProcessing`: a template of sequences and special tokens.
    Template(TemplateSpec),
    /// `Sequence`: several post-processors, each on the result of the one before.
    Sequence(Vec<PostProcessorSpec>),
}

impl PostProcessorSpec {
    /// Return (place, token, id) for every token that the post-processor names; `place` is its own place in the file.
    #[must_use]
    pub fn tokens(&self, place: &str) -> Vec<(String, &str, u32)> {
        match self {
            Self::Bert { sep, cls } | Self::Roberta { sep, cls, .. } => {
                vec![(format!("{place}.sep"), &sep.0, sep.1), (format!("{place}.cls"), &cls.0, cls.1)]
            }
            Self::ByteLevel(_) => Vec::new(),
            Self::Template(template) => template.tokens(place),
            Self::Sequence(processors) => {
                let place = |at: usize| format!("{place}.processors[{at}]");
                let each = processors.iter().enumerate();
                each.flat_map(|(at, processor)| processor.tokens(&place(at))).collect()
            }
        }
    }
}

/// Settings of `TemplateProcessing`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSpec {
    /// The template for a single sequence.
    pub single: Vec<TemplatePiece>,
    /// The template for a pair.
    pub pair: Vec<TemplatePiece>,
    /// The special tokens that the templates name, in file order.
    pub special_tokens: Vec<TemplateToken>,
}

impl TemplateSpec {
    fn tokens(&self, place: &str) -> Vec<(String, &str, u32)> {
        let named = |special: &'_ TemplateToken| format!("{place}.special_tokens[{:?}]", special.name);
        let each = self.special_tokens.iter();
        each.flat_map(|special| {
            let at = named(special);
            special
                .tokens
                .iter()
                .zip(&special.ids)
                .map(move |(token, &id)| (at.clone(), token.as_str(), id))
        })
        .collect()
    }
}

/// One item of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    /// `Sequence`: the first (0) or second (1) sequence, and its type id.
    Sequence(u8, u32),
    /// `SpecialToken`: the name of a special token, and its type id.
    Special(String, u32),
}

/// A special token of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateToken {
    /// The name in the template (`id`).
    pub name: String,
    /// The ids that the post-processor inserts.
    pub ids: Vec<u32>,
    /// The tokens of `ids`.
    pub tokens: Vec<String>,
}
