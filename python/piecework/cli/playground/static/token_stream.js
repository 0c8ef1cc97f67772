// The tokens of one tokenizer as coloured spans over the text. The text is divided into blocks of lines; a block
// is empty until it is near the visible part, and an edit replaces only the blocks that it touches. An edit sends the
// whole text, because a line has other tokens alone than within its text.

import { element, visible, withoutControls } from "./dom.js";
import { changedPart } from "./token_columns.js";

const LINES = 24;
const CHARACTERS = 2000;
const COLORS = 5;
const CHARACTER_WIDTH = 9.2; // pixels, in the font of the stream

export class TokenStream {
  /**
   * `listener` has the functions `point(index)` and `pick(index)`, called with indices of tokens, and `leave(isOutside)`
   * for a pointer between tokens or outside of the stream.
   */
  constructor(id, name, listener) {
    this.listener = listener;
    this.blocks = [];
    this.state = null;
    this.active = -1;
    this.root = element("div", {
      class: "stream",
      id,
      role: "listbox",
      tabindex: "0",
      "aria-label": `Tokens of ${name}`,
    });
    this.observer = new IntersectionObserver((seen) => this.showSeen(seen), {
      root: this.root,
      rootMargin: "800px 0px",
    });
    this.root.addEventListener("pointerover", (event) => this.pointed(event, (i) => listener.point(i)));
    this.root.addEventListener("pointerleave", () => listener.leave(true));
    this.root.addEventListener("click", (event) => this.pointed(event, (i) => listener.pick(i)));
    this.root.addEventListener("keydown", (event) => this.pressed(event));
    this.root.addEventListener("focus", () => this.focused());
  }

  /** Show a text and its columns. */
  show(text, columns) {
    const now = { text, columns };
    const old = this.state;
    this.state = now;
    if (old === null) {
      this.replaceBlocks(0, 0, this.partition(0, text.length, 0));
      return;
    }
    const part = changedPart(old, now);
    if (part === null) return;
    this.setActive(-1);
    let first = this.blocks.findIndex((block) => block.to >= part.from);
    if (first < 0) first = Math.max(this.blocks.length - 1, 0);
    let last = first;
    while (last < this.blocks.length && this.blocks[last].from <= part.oldTo) last++;
    const from = first < this.blocks.length ? this.blocks[first].from : 0;
    const firstToken = first < this.blocks.length ? this.blocks[first].first : 0;
    const shift = text.length - old.text.length;
    const added = columns.count - old.columns.count;
    const to = last < this.blocks.length ? this.blocks[last].from + shift : text.length;
    for (const block of this.blocks.slice(last)) {
      block.from += shift;
      block.to += shift;
      block.first += added;
      block.last += added;
    }
    this.replaceBlocks(first, last, this.partition(from, to, firstToken));
  }

  /** Return new blocks for a part of the text; blocks end after whole tokens, mostly at ends of lines. */
  partition(from, to, firstToken) {
    const { text, columns } = this.state;
    this.columns = Math.max(20, Math.floor(this.root.clientWidth / CHARACTER_WIDTH));
    const blocks = [];
    let start = from;
    let token = firstToken;
    while (start < to || (start === 0 && to === 0 && !blocks.length)) {
      let end = lineEnd(text, start, to);
      for (let lines = 1; lines < LINES && end < to && end - start < CHARACTERS; lines++) {
        end = lineEnd(text, end, to);
      }
      if (end - start > 2 * CHARACTERS) end = start + CHARACTERS;
      const first = token;
      while (token < columns.count && (columns.anchors[token] < end || end >= text.length)) {
        if (columns.ends[token] > end) end = Math.min(columns.ends[token], to);
        token++;
      }
      // A part of a character pair would be shown as a replacement character.
      if (end < to && isSecondHalf(text, end)) end++;
      blocks.push(this.block(start, end, first, token));
      start = end;
      if (to === 0) break;
    }
    return blocks;
  }

  block(from, to, first, last) {
    const root = element("div", { class: "block", role: "none" });
    root.style.setProperty("--lines", this.linesOf(from, to));
    const block = { root, from, to, first, last, spans: null };
    root.block = block;
    return block;
  }

  /** Return how many lines a part of the text takes, about: the height of its block until it has spans. */
  linesOf(from, to) {
    const { text } = this.state;
    let lines = 0;
    for (let at = from; at < to; ) {
      const end = lineEnd(text, at, to);
      lines += Math.max(1, Math.ceil((end - at) / this.columns));
      at = end;
    }
    return lines;
  }

  replaceBlocks(first, last, blocks) {
    const removed = this.blocks.splice(first, last - first, ...blocks);
    for (const { root } of removed) {
      this.observer.unobserve(root);
      root.remove();
    }
    const next = this.blocks[first + blocks.length]?.root ?? null;
    const fragment = document.createDocumentFragment();
    for (const { root } of blocks) {
      fragment.append(root);
      this.observer.observe(root);
    }
    this.root.insertBefore(fragment, next);
    // What replaces visible blocks is shown at once, so that it does not lose its colours for a frame.
    if (removed.some((block) => block.spans)) for (const block of blocks.slice(0, 4)) this.fill(block);
  }

  showSeen(seen) {
    for (const { target, isIntersecting } of seen) if (isIntersecting) this.fill(target.block);
  }

  /** Show the text of a block, with a span for each token. */
  fill(block) {
    if (block.spans) return;
    const { text, columns } = this.state;
    const fragment = document.createDocumentFragment();
    const spans = [];
    let shown = block.from;
    for (let i = block.first; i < block.last; i++) {
      const start = Math.max(columns.starts[i], shown);
      const end = Math.min(columns.ends[i], block.to);
      if (start > shown) fragment.append(withoutControls(text.slice(shown, start)));
      const span = this.span(i, i - block.first, start < end ? text.slice(start, end) : "");
      shown = Math.max(shown, start < end ? end : shown);
      spans.push(span);
      fragment.append(span);
    }
    if (shown < block.to) fragment.append(withoutControls(text.slice(shown, block.to)));
    block.root.replaceChildren(fragment);
    block.root.classList.add("filled");
    block.spans = spans;
  }

  span(i, number, text) {
    const { columns } = this.state;
    const span = document.createElement("span");
    const { text: token, hex } = columns.token(i);
    let kinds = `t c${number % COLORS}`;
    if (columns.isOnlyHere(i)) kinds += " own";
    if (columns.isUnknown(i)) kinds += " unknown";
    const normalized = text ? columns.normalizedText(this.state.text, i) : null;
    if (normalized !== null) {
      kinds += " changed";
      span.title = `${visible(text.trim())} in the text`;
      text = text.replace(/\S(.*\S)?/s, () => normalized);
    }
    if (isInvisible(text)) kinds += " ghost";
    else if (!text) kinds += columns.isTemplate(i) ? " template" : " ghost";
    else if (hex) kinds += " split";
    span.className = kinds;
    span.setAttribute("role", "option");
    span.setAttribute("aria-selected", "false");
    if (isInvisible(text)) span.textContent = codesOf(text);
    else if (text) span.textContent = withoutControls(text.replaceAll("\n", "⏎\n").replaceAll("\t", "⇥\t"));
    else span.textContent = hex ? `·${hex.replaceAll(" ", "·")}` : visible(token) || "∅";
    if (!span.textContent.trim()) span.setAttribute("aria-label", visible(token) || "empty");
    span.number = number;
    return span;
  }

  // ---- the active token

  pointed(event, action) {
    const span = event.target.closest?.(".t");
    if (span) action(span.parentNode.block.first + span.number);
    else if (event.type === "pointerover") this.listener.leave();
  }

  blockOf(i) {
    return this.blocks.find((block) => i >= block.first && i < block.last);
  }

  /** Return the span of a token, null if its block has none yet. */
  spanOf(i) {
    const block = this.blockOf(i);
    return block?.spans?.[i - block.first] ?? null;
  }

  /** Mark tokens that share characters with the active token of another stream. */
  echo(indices) {
    for (const span of this.echoes ?? []) span.classList.remove("echo");
    this.echoes = indices.map((i) => this.spanOf(i)).filter(Boolean);
    for (const span of this.echoes) span.classList.add("echo");
  }

  setActive(i) {
    const old = this.activeSpan;
    if (old) {
      old.classList.remove("active");
      old.setAttribute("aria-selected", "false");
      old.removeAttribute("id");
    }
    this.active = i;
    this.activeSpan = i < 0 ? null : this.spanOf(i);
    if (this.activeSpan) {
      this.activeSpan.classList.add("active");
      this.activeSpan.setAttribute("aria-selected", "true");
      this.activeSpan.id = `${this.root.id}-active`;
      this.root.setAttribute("aria-activedescendant", this.activeSpan.id);
    } else this.root.removeAttribute("aria-activedescendant");
  }

  focused() {
    if (this.state?.columns.count && this.active < 0) this.listener.point(0);
  }

  /** Move to a token and scroll to it. */
  moveTo(i) {
    const block = this.blockOf(i);
    if (!block) return;
    this.fill(block);
    this.listener.point(i);
    this.spanOf(i).scrollIntoView({ block: "nearest" });
  }

  pressed(event) {
    const count = this.state?.columns.count ?? 0;
    if (!count || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowRight: 1, ArrowLeft: -1, PageDown: 25, PageUp: -25, Home: -count, End: count };
    if (event.key in moves) {
      this.moveTo(Math.min(Math.max(this.active + moves[event.key], 0), count - 1));
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.active >= 0) this.listener.pick(this.active);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      this.listener.cross(event.key === "ArrowDown" ? 1 : -1);
    } else return;
    event.preventDefault();
  }
}

/** Return whether a text has nothing to see: only characters that control direction, joining or breaking. */
function isInvisible(text) {
  return /^[\p{Cf}\p{Zl}\p{Zp}]+$/u.test(text);
}

function codesOf(text) {
  return [...text].map((c) => `U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");
}

function lineEnd(text, start, limit) {
  const found = text.indexOf("\n", start);
  return found < 0 || found + 1 > limit ? limit : found + 1;
}

function isSecondHalf(text, at) {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit < 0xe000;
}
