//! Added tokens: text to segments of plain text and whole tokens.
//!
//! Raw text is searched for tokens with `normalized: false`, normalized text for the normalized forms of
//! the others. The leftmost match wins, then the longest (Aho & Corasick 1975). Compiling is linear in the
//! bytes of all tokens; searching is linear in the text, times the longest token in the worst case.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use foldhash::{HashMap, HashSet};

use crate::error::{Error, ErrorKind};
use crate::spec::AddedToken;
use crate::text::Aligned;

/// Compiled added tokens.
#[derive(Clone, Debug)]
pub struct AddedTokens {
    tokens: Vec<AddedToken>,
    skipped_by_decoding: HashSet<u32>,
    normalized_forms: HashMap<u32, String>,
    raw: Option<Matcher>,
    normalized: Option<Matcher>,
    has_single_words: bool,
}

/// The added tokens to match in text, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selector {
    /// All special tokens.
    #[default]
    All,
    /// Special tokens with these ids, and all other added tokens.
    Only(HashSet<u32>),
    /// All added tokens, where the original text permits them.
    Within(PermittedSpans),
}

/// Where added tokens may match in the original text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermittedSpans {
    /// Byte spans, in order and without overlap; a match lies in one of them.
    spans: Vec<(u32, u32)>,
    /// The ids of the tokens that match everywhere.
    everywhere: HashSet<u32>,
}

impl PermittedSpans {
    /// Return whether a match of `token` at a byte span is permitted.
    fn permit(&self, token: &AddedToken, (start, end): (u32, u32)) -> bool {
        if self.everywhere.contains(&token.id) {
            return true;
        }
        let after = self.spans.partition_point(|&(from, _)| from <= start);
        after > 0 && end <= self.spans[after - 1].1
    }
}

impl Selector {
    /// Select the special tokens with these ids.
    #[must_use]
    pub fn only(ids: Vec<u32>) -> Self {
        Self::Only(ids.into_iter().collect())
    }

    /// Select matches within byte spans of the original text, and `everywhere` those of the tokens with these ids.
    ///
    /// Fails if the spans are out of order or overlap.
    pub fn within(spans: Vec<(u32, u32)>, everywhere: Vec<u32>) -> Result<Self, Error> {
        let mut done = 0;
        for &(start, end) in &spans {
            if start < done || end < start {
                let found = format!("the span ({start}, {end})");
                return Err(Error::new(
                    ErrorKind::Argument,
                    "spans",
                    found,
                    "spans in order without overlap",
                ));
            }
            done = end;
        }
        Ok(Self::Within(PermittedSpans { spans, everywhere: everywhere.into_iter().collect() }))
    }

    /// Return whether a match depends on its position in the original text.
    pub(crate) fn is_positional(&self) -> bool {
        matches!(self, Self::Within(_))
    }

    fn recognizes(&self, token: &AddedToken) -> bool {
        match self {
            Self::All | Self::Within(_) => true,
            Self::Only(ids) => !token.special || ids.contains(&token.id),
        }
    }

    /// Return whether `token` may match where `source` returns its byte span in the original text.
    fn permits(&self, token: &AddedToken, source: impl Fn() -> (u32, u32)) -> bool {
        match self {
            Self::Within(permitted) => permitted.permit(token, source()),
            _ => self.recognizes(token),
        }
    }
}

/// A segment of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Plain text, as a byte span.
    Text(usize, usize),
    /// An added token: its id and its byte span, which includes stripped whitespace.
    Token(u32, usize, usize),
}

impl AddedTokens {
    /// Compile added tokens; `normalize` is the tokenizer's normalizer on a whole text.
    ///
    /// Fails if two tokens have the same content. Of two tokens with the same normalized form, only the
    /// one with the lower id matches; a token with an empty normalized form never matches.
    pub fn compile(
        tokens: &[AddedToken],
        normalize: impl Fn(&str) -> Result<String, Error>,
    ) -> Result<Self, Error> {
        let mut first_with = HashMap::default();
        for (at, token) in tokens.iter().enumerate() {
            check(token, at)?;
            if let Some(first) = first_with.insert(token.content.as_str(), at) {
                let found = format!("{:?}, which added_tokens[{first}] has too", token.content);
                let place = format!("added_tokens[{at}].content");
                return Err(Error::new(ErrorKind::Vocabulary, place, found, "each content once"));
            }
        }
        let mut by_id: Vec<(usize, &AddedToken)> = tokens.iter().enumerate().collect();
        by_id.sort_by_key(|(_, token)| token.id);
        let (mut raw, mut normalized, mut normalized_forms) = (Vec::new(), Vec::new(), HashMap::default());
        for (number, &(at, token)) in by_id.iter().enumerate() {
            if !token.normalized {
                raw.push((token.content.clone(), number));
                continue;
            }
            let form = normalize(&token.content).map_err(|e| e.within(&format!("added_tokens[{at}]")))?;
            check_form(&form, at)?;
            if form != token.content {
                normalized_forms.insert(token.id, form.clone());
            }
            normalized.push((form, number));
        }
        let special = tokens.iter().filter(|token| token.special);
        Ok(Self {
            skipped_by_decoding: special.map(|token| token.id).collect(),
            normalized_forms,
            raw: Matcher::compile(raw)?,
            normalized: Matcher::compile(normalized)?,
            has_single_words: tokens.iter().any(|token| token.single_word),
            tokens: by_id.into_iter().map(|(_, token)| token.clone()).collect(),
        })
    }

    /// Return whether the token of this id is special.
    #[must_use]
    pub fn is_special(&self, id: u32) -> bool {
        self.skipped_by_decoding.contains(&id)
    }

    /// Return the added tokens in the order of their ids.
    #[must_use]
    pub fn tokens(&self) -> &[AddedToken] {
        &self.tokens
    }

    /// Return the text that the decoder gets for a token, if its normalized form differs from its content.
    pub(crate) fn normalized_form(&self, id: u32) -> Option<&str> {
        self.normalized_forms.get(&id).map(String::as_str)
    }

    /// Return whether any token is matched in normalized text.
    pub(crate) fn has_normalized(&self) -> bool {
        self.normalized.is_some()
    }

    /// Return the text that is searched for a token.
    fn form<'t>(&'t self, token: &'t AddedToken) -> &'t str {
        self.normalized_form(token.id).unwrap_or(&token.content)
    }

    /// Return whether text can be divided before a space that follows a letter or digit: the tokens of the part before it
    /// are those of the text, and so are those of the other part unless [`Self::strip_right`].
    pub(crate) fn divide_at_spaces(&self) -> bool {
        let crosses = |form: &str| form.trim_start_matches(' ').contains(' ');
        self.tokens.iter().all(|token| {
            let looks_back = token.single_word && self.form(token).starts_with(' ');
            !crosses(&token.content) && !crosses(self.form(token)) && !looks_back
        })
    }

    /// Return whether a token can be next to a space between two letters or digits, or contain it.
    pub(crate) fn touch_spaces(&self) -> bool {
        self.tokens.iter().any(|token| {
            let form = self.form(token);
            form.ends_with(char::is_alphanumeric)
                || form.starts_with(|c: char| c == ' ' || c.is_alphanumeric())
        })
    }

    /// Return whether a token that is matched in normalized text is spaces only.
    pub(crate) fn match_normalized_spaces(&self) -> bool {
        let is_spaces = |token: &AddedToken| self.form(token).trim_matches(' ').is_empty();
        self.tokens.iter().any(|token| token.normalized && is_spaces(token))
    }

    /// Return where the last token of a raw text begins that no text after it can change, neither the token nor the ids
    /// before it; 0 without one.
    ///
    /// These tokens match whatever their neighbors are. A longer token can replace one until the text is as long.
    pub(crate) fn last_final(&self, text: &str, selector: &Selector) -> usize {
        let Some(matcher) = &self.raw else { return 0 };
        let is_final = |segment: Segment| match segment {
            Segment::Token(id, start, end) if start + matcher.longest <= text.len() => {
                let token = self.tokens.binary_search_by_key(&id, |token| token.id);
                token
                    .is_ok_and(|at| self.is_context_free(&self.tokens[at], &text[start..end]))
                    .then_some(start)
            }
            _ => None,
        };
        self.raw_segments(text, selector).filter_map(is_final).last().unwrap_or(0)
    }

    /// Return whether a match is the content of its token, which neither depends on its neighbors nor changes the token before
    /// it.
    fn is_context_free(&self, token: &AddedToken, matched: &str) -> bool {
        let depends = token.lstrip || token.rstrip || token.single_word;
        let changes = self.has_single_words && matched.starts_with(regex_syntax::is_word_character);
        !depends && !changes && matched == token.content
    }

    /// Return whether a token includes the whitespace after it.
    #[must_use]
    pub fn strip_right(&self) -> bool {
        self.tokens.iter().any(|token| token.rstrip)
    }

    /// Return whether `selector` includes a special token that is matched in normalized text.
    pub(crate) fn recognizes_normalized_special(&self, selector: &Selector) -> bool {
        self.has_normalized()
            && self
                .tokens
                .iter()
                .any(|token| token.special && token.normalized && selector.recognizes(token))
    }

    /// Iterate over the plain text and the added tokens of a whole raw text, in order, without empty segments.
    ///
    /// A token that `selector` excludes does not match.
    pub(crate) fn raw_segments<'t>(
        &'t self,
        text: &'t str,
        selector: &'t Selector,
    ) -> impl Iterator<Item = Segment> + 't {
        let source = |start: usize, end: usize| (start as u32, end as u32);
        Segments::new(self, self.raw.as_ref(), text, selector, source)
    }

    /// Iterate over the plain text and the added tokens that are matched in normalized text.
    ///
    /// The selector must not be positional, unless no token is matched there.
    pub(crate) fn normalized_segments<'t>(
        &'t self,
        text: &'t str,
        selector: &'t Selector,
    ) -> impl Iterator<Item = Segment> + 't {
        debug_assert!(self.normalized.is_none() || !selector.is_positional());
        Segments::new(self, self.normalized.as_ref(), text, selector, |_, _| (0, u32::MAX))
    }

    /// Iterate over the same of normalized text whose sources in the original are known, for every selector.
    pub(crate) fn aligned_segments<'t>(
        &'t self,
        text: &'t Aligned,
        selector: &'t Selector,
    ) -> impl Iterator<Item = Segment> + 't {
        let source = |start, end| text.source_of(start, end);
        Segments::new(self, self.normalized.as_ref(), text.text(), selector, source)
    }
}

/// Iterates over the segments of a text.
struct Segments<'t, S> {
    added: &'t AddedTokens,
    matcher: Option<&'t Matcher>,
    text: &'t str,
    selector: &'t Selector,
    /// Returns the bytes of the original that a match comes from.
    source: S,
    /// The end of the last segment.
    done: usize,
    search_from: usize,
    /// The last end of a match, with its whitespace.
    last_end: usize,
    /// The token after the text that was returned last.
    next: Option<Segment>,
}

impl<'t, S: Fn(usize, usize) -> (u32, u32)> Segments<'t, S> {
    #[inline]
    fn new(
        added: &'t AddedTokens,
        matcher: Option<&'t Matcher>,
        text: &'t str,
        selector: &'t Selector,
        source: S,
    ) -> Self {
        let (done, search_from, last_end, next) = (0, 0, 0, None);
        Self { added, matcher, text, selector, source, done, search_from, last_end, next }
    }

    /// Return the next token.
    fn next_token(&mut self) -> Option<(u32, usize, usize)> {
        let (added, text, selector, matcher) = (self.added, self.text, self.selector, self.matcher?);
        loop {
            let recognizes =
                |at: usize, start, end| selector.permits(&added.tokens[at], || (self.source)(start, end));
            let (at, start, end) = matcher.find(text, self.search_from, recognizes)?;
            self.search_from = end;
            let token = &added.tokens[at];
            if token.single_word && touches_word(text, start, end) {
                continue;
            }
            let start = if token.lstrip { whitespace_start(text, self.done, start) } else { start };
            let end = if token.rstrip { whitespace_end(text, end, self.last_end) } else { end };
            self.last_end = self.last_end.max(end);
            if start < end {
                return Some((token.id, start, end));
            }
        }
    }
}

impl<S: Fn(usize, usize) -> (u32, u32)> Iterator for Segments<'_, S> {
    type Item = Segment;

    #[inline]
    fn next(&mut self) -> Option<Segment> {
        if let Some(token) = self.next.take() {
            return Some(token);
        }
        let from = self.done;
        let Some((id, start, end)) = self.next_token() else {
            self.done = self.text.len();
            self.matcher = None;
            return (from < self.done).then_some(Segment::Text(from, self.done));
        };
        self.done = end;
        let token = Segment::Token(id, start, end);
        if from < start {
            self.next = Some(token);
            return Some(Segment::Text(from, start));
        }
        Some(token)
    }
}

/// The longest token in bytes; it bounds how often the search reads a byte of text.
const MAX_CONTENT_BYTES: usize = 1024;

fn check(token: &AddedToken, at: usize) -> Result<(), Error> {
    let place = format!("added_tokens[{at}].content");
    if token.content.is_empty() {
        return Err(Error::new(ErrorKind::Format, place, "an empty string", "a token"));
    }
    if token.content.len() > MAX_CONTENT_BYTES {
        let found = format!("a token of {} bytes", token.content.len());
        return Err(Error::new(ErrorKind::Format, place, found, format!("at most {MAX_CONTENT_BYTES}")));
    }
    Ok(())
}

fn check_form(form: &str, at: usize) -> Result<(), Error> {
    if form.len() <= MAX_CONTENT_BYTES {
        return Ok(());
    }
    let place = format!("added_tokens[{at}].normalized");
    let found = format!("a token of {} bytes when normalized", form.len());
    Err(Error::new(ErrorKind::Format, place, found, format!("at most {MAX_CONTENT_BYTES}")))
}

/// Return whether a word character (`\w`) is directly before or after the span.
fn touches_word(text: &str, start: usize, end: usize) -> bool {
    text[..start].chars().next_back().is_some_and(regex_syntax::is_word_character)
        || text[end..].chars().next().is_some_and(regex_syntax::is_word_character)
}

/// Return where the whitespace before byte `start` begins, at the earliest at byte `done`, the end of the token before.
fn whitespace_start(text: &str, done: usize, start: usize) -> usize {
    text.get(done..start).map_or(done, |before| done + before.trim_end().len())
}

/// Return where the whitespace after byte `end` ends. `last_end` is the last end of a token so far: a token that ends
/// before it is within whitespace that ends there, which is not read again.
fn whitespace_end(text: &str, end: usize, last_end: usize) -> usize {
    if end <= last_end {
        return last_end;
    }
    text.len() - text[end..].trim_start().len()
}

#[cfg(test)]
mod tests;

// Match many tokens at once: the leftmost match, then the longest (Aho & Corasick 1975).

/// An automaton over the forms of some tokens.
#[derive(Clone, Debug)]
pub(super) struct Matcher {
    automaton: AhoCorasick,
    token_forms: Vec<TokenForm>,
    /// The bytes of the longest form.
    longest: usize,
}

#[derive(Clone, Copy, Debug)]
struct TokenForm {
    /// The index of the token.
    token: usize,
    len: usize,
    /// The longest other form that is a prefix of this one.
    shorter: Option<usize>,
}

/// The most bytes of forms for an automaton with a dense transition table.
const MAX_DENSE_BYTES: usize = 2048;
/// The most bytes of all forms.
const MAX_TOTAL_BYTES: usize = 1 << 26;

impl Matcher {
    /// Compile (form, index of the token) entries; ignore empty forms.
    pub(super) fn compile(mut forms: Vec<(String, usize)>) -> Result<Option<Self>, Error> {
        forms.retain(|(form, _)| !form.is_empty());
        if forms.is_empty() {
            return Ok(None);
        }
        // A form sorts after its prefixes, and equal forms sort with the first token last.
        forms.sort_by(|(a, first), (b, second)| a.cmp(b).then(second.cmp(first)));
        let token_forms = with_prefixes(&forms);
        let last_of_equals =
            (0..forms.len()).filter(|&i| forms.get(i + 1).is_none_or(|f| f.0 != forms[i].0));
        let searched: Vec<usize> = last_of_equals.collect();
        let automaton = automaton(searched.iter().map(|&i| forms[i].0.as_bytes()))?;
        let longest = forms.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
        // The forms of the automaton come first, in the order of its pattern ids.
        Ok(Some(Self { automaton, token_forms: renumbered(&token_forms, &searched), longest }))
    }

    /// Return the leftmost, then longest match from byte `from` on, among those for whose token, start
    /// and end `recognizes` holds.
    #[inline]
    pub(super) fn find(
        &self,
        text: &str,
        mut from: usize,
        recognizes: impl Fn(usize, usize, usize) -> bool,
    ) -> Option<(usize, usize, usize)> {
        loop {
            let found = self.automaton.find(Input::new(text).span(from..text.len()))?;
            let mut pattern = Some(&self.token_forms[found.pattern().as_usize()]);
            while let Some(candidate) = pattern {
                let (start, end) = (found.start(), found.start() + candidate.len);
                if recognizes(candidate.token, start, end) {
                    return Some((candidate.token, start, end));
                }
                pattern = candidate.shorter.map(|at| &self.token_forms[at]);
            }
            from = found.start() + 1;
        }
    }
}

/// Return for each sorted form its longest prefix among the forms.
fn with_prefixes(forms: &[(String, usize)]) -> Vec<TokenForm> {
    let mut token_forms = Vec::with_capacity(forms.len());
    let mut prefixes: Vec<usize> = Vec::new();
    for (at, (form, token)) in forms.iter().enumerate() {
        while prefixes.last().is_some_and(|&last| !form.starts_with(&forms[last].0)) {
            prefixes.pop();
        }
        token_forms.push(TokenForm { token: *token, len: form.len(), shorter: prefixes.last().copied() });
        prefixes.push(at);
    }
    token_forms
}

/// Move the forms at the indices `first` to the front.
fn renumbered(token_forms: &[TokenForm], first: &[usize]) -> Vec<TokenForm> {
    let mut order = first.to_vec();
    let mut is_first = vec![false; token_forms.len()];
    first.iter().for_each(|&at| is_first[at] = true);
    order.extend((0..token_forms.len()).filter(|&at| !is_first[at]));
    let mut new_index = vec![0; token_forms.len()];
    order.iter().enumerate().for_each(|(new, &old)| new_index[old] = new);
    let renumber = |at: &usize| {
        let pattern = token_forms[*at];
        TokenForm { shorter: pattern.shorter.map(|old| new_index[old]), ..pattern }
    };
    order.iter().map(renumber).collect()
}

fn automaton<'f>(forms: impl Iterator<Item = &'f [u8]> + Clone) -> Result<AhoCorasick, Error> {
    let bytes: usize = forms.clone().map(<[u8]>::len).sum();
    if bytes > MAX_TOTAL_BYTES {
        let found = format!("tokens of {bytes} bytes together");
        return Err(Error::new(
            ErrorKind::Format,
            "added_tokens",
            found,
            format!("at most {MAX_TOTAL_BYTES}"),
        ));
    }
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind((bytes > MAX_DENSE_BYTES).then_some(AhoCorasickKind::ContiguousNFA))
        .build(forms)
        .map_err(|error| {
            Error::new(ErrorKind::Format, "added_tokens", error.to_string(), "fewer or shorter tokens")
        })
}
