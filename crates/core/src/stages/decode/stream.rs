//! Incremental decoding: one id in, the text that it adds out.
//!
//! The stream keeps a window of ids: context whose text has been returned, because the text of a token can
//! depend on the tokens before it, then the ids of an unfinished character. Each step decodes the window
//! and returns the new text. The window is shortened only between characters, and so that visible text
//! stays in it: changes that a decoder makes at the beginning of a text then affect the context, not the
//! next tokens. Memory is bounded and a step takes constant time.

use crate::error::Error;

/// The state of one stream, for any decoding function.
///
/// The function gets ids and whether to skip special tokens. The returned texts, with that of
/// [`Self::finish`], join to the text of all ids. The exception is a decoder that changes earlier text
/// because of later ids (byte tokens that turn out not to be UTF-8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeStream {
    skip_special_tokens: bool,
    ids: Vec<u32>,
    /// The text of the window that has been returned.
    returned: String,
    /// Positions in the window at which no character was unfinished.
    boundaries: Vec<usize>,
    /// The bytes returned since the last of `boundaries`.
    returned_since_boundary: usize,
    /// The ids since the last of `boundaries`, which can be bytes of one character.
    pending: usize,
}

/// What a stream remembers, as plain data.
///
/// In order: the ids of the window, its returned text, the boundaries in it, the bytes returned since the last
/// boundary, and the ids since then.
pub type StreamState = (Vec<u32>, String, Vec<usize>, usize, usize);

/// Decodes the ids of a window.
type Decode<'d> = &'d dyn Fn(&[u32]) -> Result<String, Error>;

/// Decoders write this for bytes that are not, or not yet, a character.
const UNFINISHED: char = '\u{FFFD}';
/// A character has at most four bytes: of this many ids, all but the last three are complete.
const MAX_CHAR_BYTES: usize = 4;
/// The most bytes of an unfinished character.
const MAX_UNFINISHED: usize = MAX_CHAR_BYTES - 1;
/// A longer window is shortened.
const MAX_WINDOW: usize = 32;
/// No window is longer.
const MAX_STATE: usize = 4 * MAX_WINDOW;
/// The least ids that remain.
const MIN_WINDOW: usize = 8;

impl DecodeStream {
    /// Start a stream at the beginning of a text.
    #[must_use]
    pub fn new(skip_special_tokens: bool) -> Self {
        Self { skip_special_tokens, ..Self::default() }
    }

    /// Return what the stream remembers.
    #[must_use]
    pub fn state(&self) -> StreamState {
        let (ids, returned) = (self.ids.clone(), self.returned.clone());
        (ids, returned, self.boundaries.clone(), self.returned_since_boundary, self.pending)
    }

    /// Continue where the stream with this state was; `None` for a state that no stream has.
    pub(crate) fn of_state(skip_special_tokens: bool, state: StreamState) -> Option<Self> {
        let (ids, returned, boundaries, returned_since_boundary, pending) = state;
        let context = returned.len().checked_sub(returned_since_boundary)?;
        let is_increasing = boundaries.windows(2).all(|pair| pair[0] < pair[1]);
        let last = boundaries.last().copied().unwrap_or(0);
        let is_valid = ids.len() <= MAX_STATE
            && is_increasing
            && last <= ids.len()
            && pending <= ids.len()
            && returned.is_char_boundary(context);
        let stream =
            Self { skip_special_tokens, ids, returned, boundaries, returned_since_boundary, pending };
        is_valid.then_some(stream)
    }

    /// Continue after ids whose text is known, such as a prompt; their text is not returned again.
    ///
    /// A character that they leave unfinished is returned with the id that completes it.
    pub fn prefill(
        &mut self,
        ids: &[u32],
        decode: impl Fn(&[u32], bool) -> Result<String, Error>,
    ) -> Result<(), Error> {
        let decode = |ids: &[u32]| decode(ids, self.skip_special_tokens);
        let mut whole = ids.len();
        let mut known = String::new();
        for unfinished in 0..=ids.len().min(MAX_CHAR_BYTES - 1) {
            whole = ids.len() - unfinished;
            let window = &ids[window_start(ids, whole, &decode)?..whole];
            known = decode(window)?;
            if !known.ends_with(UNFINISHED) {
                break;
            }
        }
        if known.ends_with(UNFINISHED) {
            whole = ids.len();
        }
        let start = window_start(ids, whole, &decode)?;
        let mut returned = decode(&ids[start..whole])?;
        let (certain, text) = (returned.len(), decode(&ids[start..])?);
        let settled = text.trim_end_matches(UNFINISHED);
        if settled.starts_with(&returned) {
            returned = settled.to_owned();
        }
        *self = Self {
            ids: ids[start..].to_vec(),
            returned_since_boundary: returned.len() - certain,
            returned,
            boundaries: vec![whole - start],
            pending: ids.len() - whole,
            ..Self::new(self.skip_special_tokens)
        };
        Ok(())
    }

    /// Add an id and return the text that it adds: `None` if it adds none, or if a character is
    /// unfinished.
    pub fn step(
        &mut self,
        id: u32,
        decode: impl Fn(&[u32], bool) -> Result<String, Error>,
    ) -> Result<Option<String>, Error> {
        let skip = self.skip_special_tokens;
        self.advance(id, &|ids: &[u32]| decode(ids, skip))
    }

    /// Return the remaining text and reset the stream.
    pub fn finish(
        &mut self,
        decode: impl Fn(&[u32], bool) -> Result<String, Error>,
    ) -> Result<Option<String>, Error> {
        let skip = self.skip_special_tokens;
        let rest = self.rest(&decode(&self.ids, skip)?, &|ids: &[u32]| decode(ids, skip))?;
        *self = Self::new(skip);
        Ok(Some(rest).filter(|rest| !rest.is_empty()))
    }

    fn advance(&mut self, id: u32, decode: Decode<'_>) -> Result<Option<String>, Error> {
        self.ids.push(id);
        let text = decode(&self.ids)?;
        let is_stuck = self.ids.len() > 2 * MAX_WINDOW;
        if text.ends_with(UNFINISHED) && self.adds_bytes(id, &text, decode)? {
            self.pending += 1;
        }
        let is_settled = self.pending >= MAX_CHAR_BYTES || is_stuck;
        if !text.starts_with(&self.returned) && text.ends_with(UNFINISHED) && !is_settled {
            return Ok(None);
        }
        let rest = self.rest(&text, decode)?;
        let finished = rest.trim_end_matches(UNFINISHED).len();
        let certain = match rest.len() - finished {
            unfinished if is_settled => rest.len() - unfinished.min(MAX_UNFINISHED * UNFINISHED.len_utf8()),
            _ => finished,
        };
        let certain = if is_stuck { rest.len() } else { certain };
        self.returned.push_str(&rest[..certain]);
        self.returned_since_boundary += certain;
        if certain == rest.len() {
            self.record_boundary(decode)?;
        }
        Ok(Some(rest[..certain].to_owned()).filter(|text| !text.is_empty()))
    }

    /// Return the text of the window that has not been returned; drop ids from the window if its text
    /// contradicts the returned text.
    fn rest(&mut self, text: &str, decode: Decode<'_>) -> Result<String, Error> {
        if let Some(rest) = text.strip_prefix(self.returned.as_str()) {
            return Ok(rest.to_owned());
        }
        let context_end = self.boundaries.last().copied().unwrap_or(0);
        let since_boundary = self.returned[self.returned.len() - self.returned_since_boundary..].to_owned();
        for start in self.boundaries.clone() {
            let mut returned = decode(&self.ids[start..context_end])?;
            returned.push_str(&since_boundary);
            let text = decode(&self.ids[start..])?;
            if let Some(rest) = text.strip_prefix(returned.as_str()) {
                self.drop_ids(0, start);
                self.returned = returned;
                return Ok(rest.to_owned());
            }
        }
        self.drop_ids(0, context_end);
        let text = decode(&self.ids)?;
        let shared = shared_prefix(&text, &since_boundary);
        self.returned = text[..shared].to_owned();
        self.returned_since_boundary = shared;
        Ok(text[shared..].to_owned())
    }

    /// Return whether the last id changes the text, or decodes to text on its own; skipped and empty tokens do
    /// neither.
    fn adds_bytes(&self, id: u32, text: &str, decode: Decode<'_>) -> Result<bool, Error> {
        Ok(decode(&self.ids[..self.ids.len() - 1])? != text || !decode(&[id])?.is_empty())
    }

    /// Record that no character is unfinished, and shorten a long window.
    fn record_boundary(&mut self, decode: Decode<'_>) -> Result<(), Error> {
        self.pending = 0;
        self.returned_since_boundary = 0;
        self.boundaries.push(self.ids.len());
        if self.ids.len() <= MAX_WINDOW {
            return Ok(());
        }
        let latest = self.ids.len() - MIN_WINDOW;
        let Some(&kept_from) = self.boundaries.iter().rev().find(|&&boundary| boundary <= latest) else {
            return Ok(());
        };
        let (from, to) = self.anchor(kept_from, decode)?;
        self.drop_ids(to, kept_from);
        self.drop_ids(0, from);
        self.returned = decode(&self.ids)?;
        Ok(())
    }

    /// Return the ids before `end` that stay as context: none if visible text follows, else the last
    /// visible ones, else the last with text, else the first.
    fn anchor(&self, end: usize, decode: Decode<'_>) -> Result<(usize, usize), Error> {
        let is_visible = |text: &str| text.chars().any(|c| !c.is_whitespace() && c != UNFINISHED);
        if is_visible(&decode(&self.ids[end..])?) {
            return Ok((end, end));
        }
        let ends: Vec<usize> =
            self.boundaries.iter().copied().filter(|&boundary| 0 < boundary && boundary <= end).collect();
        let units = || std::iter::once(0).chain(ends.iter().copied()).zip(ends.iter().copied());
        let mut anchor = units().next().unwrap_or((end, end));
        let mut before = String::new();
        let mut found_visible = false;
        for (from, to) in units() {
            let visible = is_visible(&decode(&self.ids[from..to])?);
            let after = decode(&self.ids[..to])?;
            if visible || (after != before && !found_visible) {
                anchor = (from, to);
            }
            found_visible |= visible;
            before = after;
        }
        Ok(anchor)
    }

    fn drop_ids(&mut self, from: usize, to: usize) {
        self.ids.drain(from..to);
        self.boundaries.retain(|&boundary| boundary <= from || boundary >= to);
        self.boundaries
            .iter_mut()
            .filter(|boundary| **boundary >= to)
            .for_each(|boundary| *boundary -= to - from);
        self.boundaries.dedup();
    }
}

/// Return the start of the window before `end`, at a character boundary if one is found.
fn window_start(ids: &[u32], end: usize, decode: Decode<'_>) -> Result<usize, Error> {
    let latest = end.saturating_sub(MAX_WINDOW);
    for start in (latest.saturating_sub(MAX_CHAR_BYTES)..=latest).rev() {
        if !decode(&ids[start..end])?.starts_with(UNFINISHED) {
            return Ok(start);
        }
    }
    Ok(latest)
}

/// Return the length of the longest common prefix in bytes.
fn shared_prefix(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    same.map(|(c, _)| c.len_utf8()).sum()
}
