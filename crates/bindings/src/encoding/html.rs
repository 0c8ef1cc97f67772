//! An encoding as HTML, for notebooks: tokens as spans over the original text, with ids on hover.

use super::origin::Origin;

/// The fields of a token that HTML shows.
pub(super) struct HtmlToken {
    pub(super) id: u32,
    pub(super) token: String,
    /// Whether the template or padding added the token.
    pub(super) is_special: bool,
    /// The text that the token covers; `None` for template tokens and without the text.
    pub(super) origin: Option<Origin>,
}

const BACKGROUNDS: [&str; 2] = ["rgba(66,133,244,.28)", "rgba(251,188,5,.38)"];
const SPECIAL_STYLE: &str = "border:1px solid rgba(128,128,128,.7);border-radius:3px;padding:0 2px;\
                             margin:0 1px;font-size:85%;opacity:.8";
const BLOCK_STYLE: &str = "white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace";

/// The number of characters shown at each end of a long gap between tokens.
const MAX_GAP: usize = 200;

/// Write tokens over the texts of up to two sequences, each a text or its words; `omitted` tokens follow.
///
/// Without texts the tokens themselves are shown.
pub(super) fn html(tokens: &[HtmlToken], texts: &[Vec<Vec<char>>; 2], omitted: usize) -> String {
    let mut writer = Writer { texts, html: String::new(), at: None, shown: 0 };
    let mut rest = tokens;
    while let Some((first, _)) = rest.split_first() {
        let (group, others) = rest.split_at(group_len(rest));
        match first.origin {
            Some(origin) if !first.is_special => writer.covered(group, origin),
            _ => writer.uncovered_token(first),
        }
        rest = others;
    }
    writer.end_text(omitted == 0);
    if tokens.iter().all(|token| token.origin.is_none()) {
        writer.all_texts();
    }
    let mut body = writer.html;
    if omitted > 0 {
        body.push_str(&format!("<span> … {omitted} more tokens</span>"));
    }
    format!("<div style=\"{BLOCK_STYLE}\">{body}</div>")
}

/// Returns the number of tokens at the start that share characters, such as the byte-level tokens of one character.
fn group_len(tokens: &[HtmlToken]) -> usize {
    let Some(first) = tokens.first().and_then(|token| token.origin) else { return 1 };
    let (start, mut reached) = first.chars;
    let shares = |token: &&HtmlToken| {
        let Some(Origin { sequence, word, chars: (from, to) }) = token.origin else { return false };
        let is_same_word = (sequence, word) == (first.sequence, first.word) && !token.is_special;
        let shares = is_same_word && (start..reached).contains(&from) && from < to;
        if shares {
            reached = reached.max(to);
        }
        shares
    };
    1 + tokens[1..].iter().take_while(shares).count()
}

/// Writes the spans of an encoding.
struct Writer<'t> {
    texts: &'t [Vec<Vec<char>>; 2],
    html: String,
    /// The sequence, the word and the first character that is not written yet.
    at: Option<(usize, usize, usize)>,
    /// The number of spans written; their colour alternates.
    shown: usize,
}

impl Writer<'_> {
    /// Write tokens that cover characters of a text, and the text before them.
    fn covered(&mut self, group: &[HtmlToken], origin: Origin) {
        let Origin { sequence, word, chars: (start, _) } = origin;
        let ends = group.iter().filter_map(|token| token.origin).map(|origin| origin.chars.1);
        let end = ends.max().unwrap_or(start);
        if start == end {
            return self.uncovered_token(&group[0]);
        }
        let from = self.move_to(sequence, word, start);
        let text = self.slice(sequence, word, from, end.max(from));
        let titles: Vec<String> = group.iter().map(title).collect();
        let background = BACKGROUNDS[self.shown % BACKGROUNDS.len()];
        let style = format!("background:{background};border-radius:2px");
        self.span(&style, &titles.join(" + "), &text);
        self.shown += 1;
        self.at = Some((sequence, word, end.max(from)));
    }

    /// Write a token that covers no text, or a token of an encoding without its text.
    fn uncovered_token(&mut self, token: &HtmlToken) {
        if token.is_special {
            self.end_text(true);
            return self.span(SPECIAL_STYLE, &title(token), &token.token);
        }
        if self.texts[0].is_empty() {
            let background = BACKGROUNDS[self.shown % BACKGROUNDS.len()];
            self.shown += 1;
            return self.span(&format!("background:{background}"), &title(token), &token.token);
        }
        self.span(SPECIAL_STYLE, &title(token), &token.token);
    }

    /// Write the text before a character; returns the first character that is not written yet.
    fn move_to(&mut self, sequence: usize, word: usize, start: usize) -> usize {
        match self.at {
            Some((of, in_word, reached)) if (of, in_word) == (sequence, word) => {
                self.gap(sequence, word, reached, start);
                reached.max(start)
            }
            at => {
                let first_word = match at {
                    Some((of, in_word, reached)) if of == sequence => {
                        self.gap(of, in_word, reached, usize::MAX);
                        self.html.push(' ');
                        in_word + 1
                    }
                    _ => 0,
                };
                for passed in first_word..word {
                    self.gap(sequence, passed, 0, usize::MAX);
                    self.html.push(' ');
                }
                self.gap(sequence, word, 0, start);
                start
            }
        }
    }

    /// Write the rest of the text that is being written, if `with_rest`.
    fn end_text(&mut self, with_rest: bool) {
        let Some((sequence, word, reached)) = self.at.take().filter(|_| with_rest) else { return };
        self.gap(sequence, word, reached, usize::MAX);
        for passed in word + 1..self.texts[sequence].len() {
            self.html.push(' ');
            self.gap(sequence, passed, 0, usize::MAX);
        }
    }

    /// Write all texts without tokens.
    fn all_texts(&mut self) {
        for (sequence, words) in self.texts.iter().enumerate() {
            (0..words.len()).for_each(|word| self.gap(sequence, word, 0, usize::MAX));
        }
    }

    /// Write text that no token covers; the middle of a long gap is omitted.
    fn gap(&mut self, sequence: usize, word: usize, from: usize, to: usize) {
        let to = to.min(self.text(sequence, word).len());
        if to.saturating_sub(from) <= 2 * MAX_GAP {
            let text = self.slice(sequence, word, from, to);
            return escape(&text, &mut self.html);
        }
        let head = self.slice(sequence, word, from, from + MAX_GAP);
        let tail = self.slice(sequence, word, to - MAX_GAP, to);
        escape(&format!("{head} … {tail}"), &mut self.html);
    }

    /// Write a span with escaped text.
    fn span(&mut self, style: &str, title: &str, text: &str) {
        self.html.push_str(&format!("<span style=\"{style}\" title=\""));
        escape(title, &mut self.html);
        self.html.push_str("\">");
        escape(text, &mut self.html);
        self.html.push_str("</span>");
    }

    fn text(&self, sequence: usize, word: usize) -> &[char] {
        self.texts[sequence].get(word).map_or(&[], Vec::as_slice)
    }

    fn slice(&self, sequence: usize, word: usize, from: usize, to: usize) -> String {
        self.text(sequence, word).get(from..to).unwrap_or_default().iter().collect()
    }
}

/// Return the text shown on hover: the id and the token.
fn title(token: &HtmlToken) -> String {
    format!("{} {}", token.id, token.token)
}

/// Append text with the special characters of HTML escaped.
fn escape(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(c),
        }
    }
}
