// Steppers for pages of text: a learner on a text that readers can change, with a slider over its steps.
//
// <div data-stepper="bpe" data-size="40" data-step="3">low lower newest widest</div>
//
// The text is shown without scripts, too. `data-stepper` is a learner ("wordpiece-pruning", "wordpiece-pmi",
// "wordpiece-likelihood", "wordpiece-frequency", "wordpiece-top-down", "bpe", "unigram"), `data-size` the size of the vocabulary, `data-step` the first step that is
// shown, `data-preset` how the text is split. The stepper is in a shadow root, so that styles do not meet.

import { afterPause, element, grouped } from "./dom.js";
import { replayOf } from "./replays.js";
import { WorkerClient } from "./worker_client.js";
import { loadPageData, trainIn } from "./worker_training.js";

const PAUSE = 300;
const STYLES = ["../page/theme.css", "./page.css"];

let shared;

/** Return the worker, the data and the styles of all steppers, which the first one loads. */
function sharedParts() {
  shared ??= { client: new WorkerClient(), data: loadPageData(), styles: Promise.all(STYLES.map(styleOf)) };
  return shared;
}

async function styleOf(address) {
  const sheet = new CSSStyleSheet();
  const found = await fetch(new URL(address, import.meta.url));
  sheet.replaceSync((await found.text()).replaceAll(":root", ":host"));
  return sheet;
}

export class Stepper {
  /** Replace the text of an element by a stepper. */
  constructor(root) {
    const { stepper, size, step, preset } = root.dataset;
    this.settings = { example: "", learner: stepper, vocab_size: size ?? "60", preset: preset ?? "", word: "" };
    this.first = Number(step ?? 0);
    this.latest = 0;
    this.text = element("textarea", { rows: 2, spellcheck: "false", "aria-label": "Text to learn from" });
    this.text.value = root.textContent.trim();
    this.size = element("input", { type: "number", min: 1, max: 8000, value: this.settings.vocab_size });
    this.slider = element("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Step" });
    this.position = element("output", { class: "number" });
    this.message = element("p", { class: "error", role: "alert" });
    this.body = element("div", { class: "replay" });
    this.attach(root);
    const changed = afterPause(PAUSE, () => this.train(0));
    this.text.addEventListener("input", changed);
    this.size.addEventListener("input", changed);
    this.slider.addEventListener("input", () => this.show());
    this.train(this.first);
  }

  async attach(root) {
    const shadow = root.attachShadow({ mode: "open" });
    shadow.adoptedStyleSheets = await sharedParts().styles;
    const button = (label, name, by) =>
      element("button", { type: "button", "aria-label": name, title: name, on: { click: () => this.step(by) } }, label);
    const size = element("label", {}, "Vocabulary ", this.size);
    const controls = [button("◀", "Previous step", -1), this.slider, button("▶", "Next step", 1), this.position, size];
    shadow.append(
      element("div", { class: "stepper" }, this.text, element("div", { class: "bar steps" }, ...controls), this.message, this.body),
    );
  }

  /** Train, and show a step. */
  async train(step) {
    const request = ++this.latest;
    const { client, data } = sharedParts();
    try {
      const trace = await trainIn(client, await data, { ...this.settings, vocab_size: this.size.value }, this.text.value);
      if (request !== this.latest) return;
      const pick = (word) => {
        this.settings.word = word;
        this.train(Number(this.slider.value));
      };
      const Replay = replayOf(this.settings.learner);
      this.replay = new Replay(trace, this.body, (by = 1) => this.step(by), pick);
      this.slider.max = trace.steps.length;
      this.slider.value = Math.min(step, trace.steps.length);
      this.message.textContent = "";
      this.show();
    } catch (error) {
      if (request === this.latest) this.message.textContent = error.message;
    }
  }

  step(by) {
    this.slider.value = Number(this.slider.value) + by;
    this.show();
  }

  show() {
    if (!this.replay) return;
    const [step, steps] = [Number(this.slider.value), Number(this.slider.max)];
    this.position.value = step ? `step ${step} of ${grouped(steps)}` : `before step 1 of ${grouped(steps)}`;
    this.replay.show(step, false);
  }
}

// A stepper starts when it is nearly visible, so that a page loads no WebAssembly before it is needed.
const waiting = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      waiting.unobserve(target);
      new Stepper(target);
    }
  },
  { rootMargin: "400px" },
);
for (const root of document.querySelectorAll("[data-stepper]")) waiting.observe(root);
