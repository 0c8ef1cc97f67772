// The view of a comparison: what differs, by how much and where, as findings, charts, words and tables.

import { drawn, start } from "../page/charts.js";
import { element, grouped } from "./dom.js";
import { compare } from "./requests.js";

const COLORS = 8;
const PIECE_COLORS = 5;
const WORDS_OPEN = 18;
const WORDS_OF_GROUP = 3;
const GROUPS_OPEN = 6;
const FIRST_CHARTS = 2;

export class CompareView {
  constructor(root, tokenizers, changed) {
    this.tokenizers = tokenizers.filter((tokenizer) => !tokenizer.error);
    this.changed = changed;
    this.isStarted = false;
    this.latest = 0;
    this.remove = () => {};
    this.text = element("textarea", { rows: 4, spellcheck: "false", autocomplete: "off", id: "corpus" });
    this.message = element("p", { class: "error", role: "alert" });
    this.body = element("div", { class: "report" });
    root.append(
      element(
        "form",
        { class: "input", on: { submit: (event) => (event.preventDefault(), this.load()) } },
        element("label", { for: "corpus" }, "Compare on a text; each line is a text of its own"),
        this.text,
        element("div", { class: "bar" }, element("button", { type: "submit" }, "Compare")),
      ),
      this.message,
      this.body,
    );
  }

  get state() {
    return { text: this.text.value };
  }

  set state({ text }) {
    this.text.value = text ?? "";
    this.load();
  }

  async load() {
    this.isStarted = true;
    const request = ++this.latest;
    this.body.setAttribute("aria-busy", "true");
    if (this.body.childElementCount) this.body.classList.add("stale");
    else this.body.replaceChildren(element("p", { class: "quiet" }, "Comparing …"));
    try {
      const content = await compare(this.text.value, this.tokenizers.map((tokenizer) => tokenizer.index));
      if (request !== this.latest) return;
      this.message.textContent = "";
      this.remove();
      this.remove = () => {};
      this.fill(...parts(content));
      this.changed();
      this.remove = start(this.body);
    } catch (error) {
      if (request !== this.latest) return;
      this.remove();
      this.remove = () => {};
      this.fill();
      this.message.textContent = error.message;
    } finally {
      if (request === this.latest) this.body.removeAttribute("aria-busy");
    }
  }

  fill(...children) {
    this.body.classList.remove("stale");
    this.body.replaceChildren(...children);
  }
}

function parts(content) {
  const { tokenizers, charts, missing } = content;
  return [
    element("p", { class: "quiet" }, content.headline),
    element("ul", { class: "findings" }, ...content.findings.map((finding) => element("li", {}, finding))),
    element("ul", { class: "cards", "aria-label": "Tokenizers" }, ...tokenizers.map(card)),
    charts.length && tokenizers.length > 1 ? legend(tokenizers) : "",
    missing ? element("p", { class: "panel note" }, missing) : figures(charts.slice(0, FIRST_CHARTS)),
    content.groups.length ? words(content.groups) : "",
    missing ? "" : figures(charts.slice(FIRST_CHARTS)),
    element("section", { class: "report-tables", "aria-label": "Tables" }, ...content.tables.map(table)),
  ].filter((part) => part !== "");
}

function swatch(at) {
  return element("span", { class: `swatch s${at % COLORS}`, "aria-hidden": "true" });
}

function card(one, at) {
  return element(
    "li",
    { class: "panel" },
    element("h2", {}, swatch(at), element("bdi", {}, one.name), " ", element("span", { class: "quiet" }, one.family)),
    element(
      "p",
      { class: "main-figure" },
      element("strong", {}, one.fertility),
      " tokens per word ",
      element("span", { class: one.is_fewest ? "comparison fewest" : "comparison" }, one.comparison),
    ),
    element(
      "dl",
      { class: "counts" },
      ...one.figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
    ),
  );
}

function legend(tokenizers) {
  const buttons = tokenizers.map((one, at) =>
    element(
      "button",
      { type: "button", class: "pick", "data-focus": at, "aria-pressed": "false" },
      swatch(at),
      element("bdi", {}, one.name),
    ),
  );
  return element("div", { class: "legend", role: "group", "aria-label": "Emphasize a tokenizer" }, ...buttons);
}

function figures(charts) {
  const made = charts.map(({ name, title, about, drawing }) =>
    element(
      "figure",
      { class: "panel", "aria-labelledby": `${name}-title` },
      element("figcaption", {}, element("h2", { id: `${name}-title` }, title), element("p", { class: "note" }, about)),
      element("div", { class: "plot", "data-chart": name }, drawn(drawing)),
    ),
  );
  return element("div", { class: "charts" }, ...made);
}

function words(groups) {
  const shown = Math.max(Math.floor(WORDS_OPEN / groups.length), WORDS_OF_GROUP);
  const open = groups.map((group, at) => group.most.slice(0, at < GROUPS_OPEN ? shown : 0));
  const rest = groups.map((group, at) => group.most.slice(open[at].length));
  const more = rest.reduce((total, most) => total + most.length, 0);
  return element(
    "section",
    { "aria-labelledby": "words-title" },
    element("h2", { id: "words-title" }, "Words that are split differently"),
    element(
      "p",
      { class: "note" },
      "Grouped by which tokenizers agree, and ordered by occurrences times boundaries that not all tokenizers have. " +
        "The number is the number of tokens.",
    ),
    ...groups.flatMap((group, at) => wordGroup(group, open[at])),
    more
      ? element(
          "details",
          {},
          element("summary", {}, `${grouped(more)} more words`),
          ...groups.flatMap((group, at) => wordGroup(group, rest[at])),
        )
      : null,
  );
}

function wordGroup({ title, figures }, most) {
  if (!most.length) return [];
  return [
    element("h3", {}, element("bdi", {}, title), " ", element("span", { class: "quiet" }, figures)),
    element("ol", { class: "words" }, ...most.map(wordCard)),
  ];
}

function wordCard({ word, count, sides }) {
  const rows = sides.map(({ name, tokenizers, tokens, pieces }) =>
    element(
      "div",
      {},
      element("dt", {}, ...tokenizers.map(swatch), element("bdi", {}, name)),
      element(
        "dd",
        {},
        element("span", { class: "chips" }, ...pieces.map(piece)),
        element("span", { class: "number" }, grouped(tokens)),
      ),
    ),
  );
  return element(
    "li",
    { class: "panel" },
    element("h4", {}, element("bdi", {}, word), " ", element("span", { class: "quiet" }, `${grouped(count)} time${count === 1 ? "" : "s"}`)),
    element("dl", {}, ...rows),
  );
}

function piece([text, tokens, isUnknown], at) {
  const kind = isUnknown ? "unknown" : tokens ? `c${at % PIECE_COLORS}` : "gap";
  return element("bdi", { class: `chip ${kind}` }, text, tokens > 1 ? element("sub", {}, `×${tokens}`) : null);
}

function table({ title, header, rows }, at) {
  const [, ...names] = header;
  return element(
    "details",
    { class: "panel", open: at === 0 },
    element("summary", {}, title.charAt(0).toUpperCase() + title.slice(1)),
    element(
      "div",
      { class: "scrolled", tabindex: "0", role: "region", "aria-label": title },
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, element("td"), ...names.map((name) => element("th", { scope: "col" }, name)))),
        element(
          "tbody",
          {},
          ...rows.map(([label, ...cells]) =>
            element("tr", {}, element("th", { scope: "row" }, label), ...cells.map((cell) => element("td", {}, cell))),
          ),
        ),
      ),
    ),
  );
}
