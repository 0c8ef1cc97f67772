// The view of one text through several tokenizers.

import { changedWords, normalizedLine } from "./changes.js";
import { Details } from "./details.js";
import { afterPause, element, grouped, visible } from "./dom.js";
import { editedPart, spliced } from "./edits.js";
import { encode } from "./requests.js";
import { TokenStream } from "./token_stream.js";

const SMALL = 20000;
const LARGE = 50000;
const MOST = 4000000;
const PAUSE = 300; // milliseconds without an edit, before all of a large text is encoded again
const MOST_NAMES = 4;
const MARGIN = 12; // pixels between what is scrolled to and the edge of the window
// As in page.css, where the details then have a column of their own.
const isWide = matchMedia("(min-width: 72rem)");

export class EncodeView {
  /**
   * `changed()` is called after a change of the state that belongs into the address; `close(index)` closes a tokenizer,
   * if the page can.
   */
  constructor(tokenizers, changed, say, close) {
    this.close = close;
    this.changed = changed;
    this.say = say;
    this.text = document.getElementById("text");
    this.streams = document.getElementById("streams");
    this.details = new Details(document.getElementById("details"), () => this.unmark());
    this.workspace = document.getElementById("workspace");
    this.failure = document.getElementById("failure");
    isWide.addEventListener("change", () => this.details.clear());
    this.isBusy = false;
    this.isStale = false;
    this.setTokenizers(tokenizers);
    this.completeLater = afterPause(PAUSE, () => this.complete());
    this.text.addEventListener("input", () => this.update());
    this.text.addEventListener("paste", (event) => this.paste(event));
    document.getElementById("encode").addEventListener("keydown", (event) => {
      if (event.key === "Escape" && event.target !== this.text) {
        this.details.clear();
        this.text.focus();
      }
    });
  }

  /** Replace the tokenizers; all of them are shown. */
  setTokenizers(tokenizers) {
    this.tokenizers = tokenizers;
    this.hidden = new Set();
    this.shown = null;
    this.panels = tokenizers.map((tokenizer, i) => this.panel(tokenizer, i));
    this.streams.replaceChildren(...this.panels.map((panel) => panel.root));
    this.details.clear();
    this.addOptions();
  }

  /** Insert a large text at once: editors of browsers take seconds for many lines. */
  paste(event) {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (pasted.length < LARGE) return;
    event.preventDefault();
    if (pasted.length > MOST) {
      this.setFailure(`The pasted text has ${grouped(pasted.length)} characters; this page takes at most ${grouped(MOST)}.`);
      return;
    }
    this.text.setRangeText(pasted, this.text.selectionStart, this.text.selectionEnd, "end");
    this.text.dispatchEvent(new Event("input"));
  }

  // ---- state in the address

  get state() {
    return {
      text: this.text.value,
      hide: [...this.hidden].sort().join(","),
      special: this.special.checked ? "1" : "",
      rings: this.rings.checked ? "1" : "",
    };
  }

  set state({ text, hide, special, rings }) {
    if (text !== undefined) this.text.value = text;
    this.special.checked = special === "1";
    this.rings.checked = rings === "1";
    this.hidden = new Set((hide ?? "").split(",").filter(Boolean).map(Number));
    this.toggles.forEach((toggle, i) => toggle && (toggle.checked = !this.hidden.has(i)));
    this.showOptions();
    this.update();
  }

  // ---- what is on the page once

  addOptions() {
    const check = (label, checked, action) => {
      const input = element("input", { type: "checkbox", on: { change: action } });
      input.checked = checked;
      return [input, element("label", {}, input, ` ${label}`)];
    };
    // What did not load has no switch.
    const shown = this.tokenizers.map(({ name, error }, i) =>
      error ? [] : check(name, true, () => {
        if (this.toggles[i].checked) this.hidden.delete(i);
        else this.hidden.add(i);
        this.showOptions();
        this.update();
      }),
    );
    this.toggles = shown.map(([input]) => input);
    const names = shown.map(([, label]) => label).filter(Boolean);
    const [special, specialLabel] = check(specialTokensOf(this.tokenizers), this.special?.checked ?? false, () => this.update());
    specialLabel.hidden = !this.tokenizers.some(({ added }) => added?.length);
    const [rings, ringsLabel] = check("ring tokens that no other tokenizer here has", this.rings?.checked ?? false, () => {
      this.showOptions();
      this.changed();
    });
    ringsLabel.title = "A ring marks a token whose characters are not one token of any other tokenizer on this page.";
    Object.assign(this, { special, rings });
    ringsLabel.hidden = names.length < 2;
    const first = () => this.panels[this.chosen[0]]?.stream.root.focus();
    document.getElementById("options").replaceChildren(
      element("button", { type: "button", class: "skip", on: { click: first } }, "Skip to the tokens"),
      names.length > 1 ? element("span", { class: "group", role: "group", "aria-label": "Tokenizers" }, ...names) : "",
      element("span", { class: "group", role: "group", "aria-label": "Display" }, specialLabel, ringsLabel),
    );
    this.showOptions();
  }

  showOptions() {
    this.streams.classList.toggle("rings", this.rings.checked);
    this.panels.forEach((panel, i) => (panel.root.hidden = this.hidden.has(i)));
  }

  panel(tokenizer, i) {
    const counts = element("dl", { class: "counts" });
    const normalized = element("div", { class: "normalized" });
    const root = element("article", { class: "panel" });
    const close = { type: "button", class: "close", "aria-label": `Close ${tokenizer.name}`, on: { click: () => this.close(i) } };
    root.append(
      element(
        "header",
        {},
        this.close ? element("button", close, "✕") : "",
        element("h2", {}, tokenizer.name),
        element(
          "p",
          { class: "quiet" },
          tokenizer.error ? "did not load" : `${tokenizer.model}, ${grouped(tokenizer.vocabSize)} tokens`,
        ),
      ),
    );
    if (tokenizer.error) {
      root.append(element("p", { class: "error" }, tokenizer.error));
      return { root };
    }
    const stream = new TokenStream(`stream-${i}`, tokenizer.name, {
      point: (token) => this.point(i, token),
      pick: (token) => this.pick(i, token),
      leave: (isOutside) => this.leave(isOutside),
      cross: (step) => this.cross(i, step),
    });
    root.append(normalized, counts, stream.root);
    return { root, normalized, counts, stream };
  }

  // ---- tokens

  get chosen() {
    return this.tokenizers.filter(({ index, error }) => !error && !this.hidden.has(index)).map(({ index }) => index);
  }

  /** Encode the text; while a request is under way, remember only that there is something newer. */
  async update() {
    this.isStale = this.isBusy;
    if (this.isBusy) return;
    await this.whileBusy(async () => {
      const [text, panels] = [this.text.value, this.panels];
      const around = await this.aroundEdit(text);
      const found = around ?? (await encode(text, this.chosen, this.special.checked));
      if (panels !== this.panels) this.isStale = true;
      else await this.show(text, found, !around);
    });
  }

  /** Return the columns of a large text that was edited, until `complete` has exact ones; null if there are none. */
  async aroundEdit(text) {
    const { shown, chosen } = this;
    const isKnown = shown?.isSpecial === this.special.checked && chosen.every((index) => shown.columns.has(index));
    const part = isKnown && text.length > SMALL && editedPart(shown.text, text);
    if (!part) return null;
    const found = await encode(text.slice(part.from, part.to), chosen, false);
    const columns = new Map([...found].map(([index, one]) => [index, spliced(shown.columns.get(index), part, one)]));
    return [...columns.values()].includes(null) ? null : columns;
  }

  /** Encode the whole of a text that was edited; of a text that is edited meanwhile, the tokens are not shown. */
  async complete() {
    const { shown } = this;
    if (this.isBusy || shown?.isExact !== false) return;
    const found = await encode(shown.text, this.chosen, this.special.checked).catch((error) => error);
    if (this.isBusy || shown !== this.shown) return;
    await this.whileBusy(async () => {
      if (found instanceof Error) throw found;
      await this.show(shown.text, found);
    });
  }

  async whileBusy(action) {
    this.isBusy = true;
    this.streams.setAttribute("aria-busy", "true");
    let failure = "";
    try {
      await action();
      this.say("");
    } catch (error) {
      failure = error.message;
    }
    this.setFailure(failure);
    this.isBusy = false;
    if (this.isStale) await this.update();
    else if (!failure && !this.shown.isExact) this.completeLater();
    else this.streams.removeAttribute("aria-busy");
    if (!failure) this.changed();
  }

  /** Say why a text has no tokens; tokens of an earlier text are dimmed and cannot be used. */
  setFailure(message) {
    const isOld = message !== "" && this.shown !== null;
    this.workspace.classList.toggle("stale", isOld);
    this.workspace.inert = isOld;
    const about = isOld ? element("span", { class: "quiet" }, "The tokens below belong to an earlier text.") : "";
    this.failure.replaceChildren(...(message ? [element("span", { class: "error" }, message), about] : []));
  }

  async show(text, columns, isExact = true) {
    const isOther = text !== this.shown?.text;
    this.shown = { text, columns, isExact, isSpecial: this.special.checked };
    const most = Math.max(1, ...[...columns.values()].map(({ count }) => count));
    const characters = text.length;
    for (const [index, found] of columns) {
      const { normalized, counts, stream } = this.panels[index];
      if (isExact && text.length > SMALL) await afterFrame();
      stream.show(text, found);
      if (!isExact) {
        counts.querySelectorAll("dd").forEach((count, i) => (count.textContent = i ? "…" : "counting …"));
        continue;
      }
      const changes = changedWords(text, found);
      normalized.replaceChildren(normalizedLine(changes) ?? "");
      this.showCounts(counts, { ...found.header, changes }, characters, most, columns.size > 1);
    }
    if (isOther || !this.details.picked) this.details.clear();
  }

  /** Show the counts; what a tokenizer loses is beside its tokens, and its bar is hatched. */
  showCounts(root, { count, unknown, onlyHere, distinct, changes }, characters, most, isCompared) {
    const isLossy = unknown > 0 || changes.changed > 0;
    const meter = element("span", { class: isLossy ? "meter lossy" : "meter" });
    meter.style.setProperty("--share", count / most);
    const facts = [
      ["tokens", grouped(count)],
      unknown && ["unknown", grouped(unknown), "warn"],
      changes.changed && ["changes", inWords(changes.kinds), "warn"],
      ["per token", count ? `${(characters / count).toFixed(2)} chars` : "–"],
      ["distinct", grouped(distinct)],
      isCompared && ["only here", grouped(onlyHere)],
    ];
    root.replaceChildren(
      ...facts.filter(Boolean).map(([name, value, kind]) =>
        element("div", { class: kind }, element("dt", {}, name), element("dd", {}, value)),
      ),
    );
    if (isCompared) root.append(element("div", { class: "wide", "aria-hidden": "true" }, meter));
  }

  // ---- the active token

  point(index, i) {
    if (this.details.picked && !this.isKeyboard(index)) return this.mark(index, i);
    this.mark(index, i);
    const { text, columns } = this.panels[index].stream.state;
    if (i < columns.count) this.details.point(this.tokenizers[index], text, columns, i);
    return undefined;
  }

  isKeyboard(index) {
    return document.activeElement === this.panels[index].stream.root && this.details.picked?.tokenizer.index === index;
  }

  /** Mark a token, and in the other streams the tokens that share characters with it. */
  mark(index, i) {
    const columns = this.shown.columns.get(index);
    if (!columns || i < 0 || i >= columns.count) return;
    for (const [other, found] of this.shown.columns) {
      const { stream } = this.panels[other];
      if (other === index) {
        stream.setActive(i);
        stream.echo([]);
      } else {
        stream.setActive(-1);
        stream.echo(found.overlapping(columns.starts[i], columns.ends[i]));
      }
    }
  }

  leave(isOutside) {
    if (this.details.picked) return;
    for (const { stream } of this.panels) stream?.echo([]);
    // In a narrow window they cover panels.
    if (isOutside && !isWide.matches) this.details.clear();
  }

  unmark() {
    for (const { stream } of this.panels) {
      stream?.setActive(-1);
      stream?.echo([]);
    }
  }

  pick(index, i) {
    this.details.picked = null;
    this.point(index, i);
    const { stream } = this.panels[index];
    const { text, columns } = stream.state;
    const picked = this.details.pick(this.tokenizers[index], text, columns, i);
    if (isWide.matches) return;
    stream.root.after(this.details.root);
    picked.then(() => this.scrollToDetails(stream.spanOf(i)));
  }

  /** Scroll the page until the details below a token are visible, as far as the token stays visible. */
  scrollToDetails(token) {
    const hidden = this.details.root.getBoundingClientRect().bottom + MARGIN - innerHeight;
    const most = (token ?? this.details.root).getBoundingClientRect().top - MARGIN;
    const top = Math.min(most, Math.max(hidden, 0));
    if (top !== 0) scrollBy({ top, behavior: "smooth" });
  }

  /** Move to the token of the next stream at the same place. */
  cross(index, step) {
    const order = this.chosen;
    const next = order[order.indexOf(index) + step];
    if (next === undefined) return;
    const from = this.shown.columns.get(index);
    const to = this.shown.columns.get(next);
    const at = this.panels[index].stream.active;
    if (at < 0 || !to.count) return;
    const { stream } = this.panels[next];
    const [same = Math.min(to.firstAt(from.anchors[at]), to.count - 1)] = to.overlapping(from.starts[at], from.ends[at]);
    this.details.picked = null;
    stream.moveTo(same);
    stream.root.focus({ preventScroll: true });
  }
}

/** Return "a", "a and b" or "a, b and c". */
function inWords(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** Return the label of the switch for special tokens: with those that the tokenizers add. */
function specialTokensOf(tokenizers) {
  const names = [...new Set(tokenizers.flatMap(({ added }) => added ?? []))];
  const shown = names.slice(0, MOST_NAMES).map(visible).join(" ");
  return `special tokens${shown && ` (${shown}${names.length > MOST_NAMES ? " …" : ""})`}`;
}

/** Wait until the next frame is painted, so that scripts and painting are tasks of their own. */
function afterFrame() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
