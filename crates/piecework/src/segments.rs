//! Prompts that are made of parts, some of which must not contain special tokens.

use std::ops::Range;

use piecework_core::engine::Input;
use piecework_core::engine::batch::Prompts;

use crate::{EncodeInput, Encoding, Error, Tokenizer};

/// The encoding of the concatenated segments of a prompt, with the tokens of each.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentedEncoding {
    encoding: Encoding,
    token_spans: Vec<Range<usize>>,
}

impl SegmentedEncoding {
    /// Return the encoding; its offsets are bytes of the concatenated text.
    #[must_use]
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// Return the ids.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        self.encoding.ids()
    }

    /// Return the tokens of each segment. A token with characters of two segments belongs to both.
    #[must_use]
    pub fn token_spans(&self) -> &[Range<usize>] {
        &self.token_spans
    }
}

/// # Encode prompts
impl Tokenizer {
    /// Encode the segments of one text, each with the permission to contain special tokens.
    ///
    /// ```
    /// use piecework::Tokenizer;
    ///
    /// let tokenizer = Tokenizer::from_bytes(b"[UNK]\n[CLS]\n[SEP]\nto\nbe\n")?;
    /// let user = "be [SEP]";
    /// let prompt = tokenizer.encode_segments([("[CLS]", true), (user, false), ("[SEP]", true)])?;
    /// assert_eq!(prompt.ids(), [1, 4, 0, 0, 0, 2], "the text of the user has no [SEP]");
    /// assert_eq!(prompt.token_spans(), [0..1, 1..5, 5..6]);
    /// # Ok::<(), piecework::Error>(())
    /// ```
    ///
    /// The result is the encoding of the concatenated texts, with one difference: special tokens and other added tokens,
    /// except whitespace, match only inside one segment that allows them. What looks like one in another segment, or
    /// across the border of two segments, is plain text. Normalizer, pre-tokenizer and model see no border.
    ///
    /// Special tokens that are no added tokens count too: those of the post-processor and of padding, control pieces of a
    /// SentencePiece model, and pieces of a Unigram model with a name such as `</s>`. The post-processor adds nothing:
    /// a prompt has its special tokens in its segments.
    ///
    /// If the model itself makes a special token from plain text, that text is segmented without these tokens, as SentencePiece
    /// does; what is unknown then becomes the unknown token. Fails with
    /// [`ErrorKind::SpecialToken`](crate::ErrorKind::SpecialToken) for a special token of one character.
    pub fn encode_segments<S: AsRef<str>>(
        &self,
        segments: impl IntoIterator<Item = (S, bool)>,
    ) -> Result<SegmentedEncoding, Error> {
        self.encode_segments_within(self.prompts()?, segments)
    }

    /// Encode segments in which `markers` are guarded besides special tokens, in place of all added tokens; such as
    /// `<tool_call>`. Added tokens that are not guarded match everywhere.
    ///
    /// Also fails for a marker that is not an added token.
    pub fn encode_segments_with_markers<S: AsRef<str>>(
        &self,
        segments: impl IntoIterator<Item = (S, bool)>,
        markers: impl IntoIterator<Item: Into<String>>,
    ) -> Result<SegmentedEncoding, Error> {
        let markers: Vec<String> = markers.into_iter().map(Into::into).collect();
        self.encode_segments_within(&Prompts::new(self.core(), &[], Some(&markers))?, segments)
    }

    fn encode_segments_within<S: AsRef<str>>(
        &self,
        prompts: &Prompts,
        segments: impl IntoIterator<Item = (S, bool)>,
    ) -> Result<SegmentedEncoding, Error> {
        let (mut text, mut spans, mut permitted) = (String::new(), Vec::new(), Vec::new());
        for (segment, allow_special) in segments {
            let segment = segment.as_ref();
            let span = text.len()..text.len() + segment.len();
            text.push_str(segment);
            if allow_special && !segment.is_empty() {
                permitted.push(span.clone());
            }
            spans.push(span);
        }
        EncodeInput::from(&text).check()?;
        let fields = prompts.encode(self.encoder(), &text, &permitted, false)?;
        let encoding = Encoding::new(self, fields, &[Input::Text(&text)]);
        Ok(SegmentedEncoding { token_spans: token_spans(&encoding, &spans), encoding })
    }
}

/// Return for each span of the text the tokens that have one of its bytes.
fn token_spans(encoding: &Encoding, spans: &[Range<usize>]) -> Vec<Range<usize>> {
    let sequences = encoding.sequence_ids();
    let first = sequences.iter().position(Option::is_some).unwrap_or(0);
    let end = sequences.iter().rposition(Option::is_some).map_or(first, |last| last + 1);
    let offsets = &encoding.offsets()[first..end];
    let mut done = first;
    spans
        .iter()
        .map(|span| {
            if span.is_empty() {
                return done..done;
            }
            let start = first + offsets.partition_point(|&(_, end)| end <= span.start);
            let end = first + offsets.partition_point(|&(start, _)| start < span.end);
            done = end.max(start);
            start..done
        })
        .collect()
}
