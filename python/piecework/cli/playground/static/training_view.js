// The view of a learner on a small corpus: a slider over its steps, and guesses of the next merge.

import { changesSentence } from "./changes.js";
import { element, grouped } from "./dom.js";
import { MergeReplay } from "./merge_replay.js";
import { replayOf } from "./replays.js";
import { files, train } from "./requests.js";

const LEARNERS = {
  "wordpiece-pruning": "WordPiece, pruning",
  "wordpiece-pmi": "WordPiece, pair score",
  "wordpiece-likelihood": "WordPiece, likelihood",
  "wordpiece-frequency": "WordPiece, frequency",
  "wordpiece-top-down": "WordPiece, top-down",
  bpe: "BPE",
  unigram: "Unigram",
};
const FIRST = "wordpiece-pmi"; // the learner of the published example
const HAS_TEXTS = ["course", ""];
const CORPORA = { course: "Four sentences of a course", hugs: "hug, pug, pun, bun, hugs", "": "Your own text" };
const SIZES = { course: 70, hugs: 15, "": 100 };
const PLAY = 900;

export class TrainingView {
  /**
   * `presets` are learner -> names of presets, `limits` the most characters of a corpus and entries of a vocabulary.
   * `changed()` is called after a change of the state in the address, `use(name)` to encode with what was trained.
   */
  constructor(root, presets, limits, changed, use) {
    this.root = root;
    this.changed = changed;
    this.use = use;
    this.isStarted = false;
    this.latest = 0;
    this.used = 0;
    const choice = (options) =>
      element("select", {}, ...Object.entries(options).map(([value, label]) => element("option", { value }, label)));
    this.corpus = choice(CORPORA);
    this.learner = choice(Object.fromEntries(Object.keys(presets).map((name) => [name, LEARNERS[name]])));
    this.learner.value = FIRST;
    this.presets = presets;
    this.preset = element("select");
    this.presetField = element("label", {}, "Preset ", this.preset);
    this.splitting = element("p", { class: "note", id: "splitting", role: "status" });
    this.size = element("input", { type: "number", min: 1, max: limits.vocabSize, value: 70 });
    this.text = element("textarea", { rows: 3, maxlength: limits.corpusChars, spellcheck: "false", "aria-label": "Your text" });
    this.text.value = "low low low low low lower lower newest newest newest newest newest newest widest widest widest";
    this.slider = element("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Step" });
    this.position = element("output", { class: "number" });
    this.predict = element("input", { type: "checkbox" });
    this.body = element("div", { class: "replay" });
    this.word = "";
    this.message = element("p", { class: "error", role: "alert" });
    const field = (label, input) => element("label", {}, `${label} `, input);
    const button = (label, action, name) =>
      element("button", { type: "button", class: "plain", title: name, "aria-label": name, on: { click: action } }, label);
    this.play = button("Play", () => this.toggle());
    this.predictLabel = element("label", {}, this.predict, " guess the next merge");
    this.steps = element(
      "div",
      { class: "bar steps" },
      button("◀", () => this.step(-1), "Previous step"),
      this.slider,
      button("▶", () => this.step(1), "Next step"),
      this.play,
      this.position,
      this.predictLabel,
      use ? button("Encode with it", () => this.encode()) : "",
      use ? button("Download tokenizer.json", () => this.download()) : "",
    );
    this.steps.hidden = true;
    root.append(
      element(
        "form",
        { class: "input", on: { submit: (event) => (event.preventDefault(), this.load()) } },
        element(
          "div",
          { class: "bar" },
          field("Corpus", this.corpus),
          field("Learner", this.learner),
          this.presetField,
          field("Vocabulary", this.size),
          element("button", { type: "submit" }, "Train"),
        ),
        this.text,
        this.splitting,
      ),
      this.message,
      this.steps,
      this.body,
    );
    this.showFields();
    this.showPresets();
    this.corpus.addEventListener("change", () => {
      this.showFields();
      this.size.value = SIZES[this.corpus.value];
      this.load();
    });
    this.learner.addEventListener("change", () => {
      this.showPresets(this.preset.value);
      this.load();
    });
    this.preset.addEventListener("change", () => this.load());
    this.slider.addEventListener("input", () => this.show());
    this.predict.addEventListener("change", () => this.show());
  }

  /** Show the fields of the corpus: words without texts have no preset. */
  showFields() {
    this.text.hidden = this.corpus.value !== "";
    this.presetField.hidden = !HAS_TEXTS.includes(this.corpus.value);
  }

  /** Offer the presets of the learner, and select one of them; another one becomes the default. */
  showPresets(selected = "") {
    const names = ["", ...Object.keys(this.presets[this.learner.value])];
    this.preset.replaceChildren(
      ...names.map((name) => element("option", { value: name }, name || "default")),
    );
    this.preset.value = names.includes(selected) ? selected : "";
  }

  get presetOfTexts() {
    return HAS_TEXTS.includes(this.corpus.value) ? this.preset.value : "";
  }

  get state() {
    return {
      corpus: this.corpus.value,
      learner: this.learner.value,
      preset: this.presetOfTexts,
      size: this.size.value,
      step: this.slider.value,
      word: this.learner.value === "unigram" ? this.word : "",
      text: this.corpus.value === "" ? this.text.value : "",
    };
  }

  set state({ corpus, learner, preset, size, step, word, text }) {
    this.word = word ?? "";
    this.corpus.value = corpus ?? (text ? "" : "course");
    if (learner in this.presets) this.learner.value = learner;
    this.size.value = size ?? SIZES[this.corpus.value];
    if (text) this.text.value = text;
    this.showPresets(preset);
    this.showFields();
    this.load(Number(step ?? 0));
  }

  async load(step = 0) {
    this.isStarted = true;
    this.stop();
    const request = ++this.latest;
    const settings = {
      example: this.corpus.value,
      learner: this.learner.value,
      preset: this.presetOfTexts,
      vocab_size: this.size.value || 0,
      word: this.word,
    };
    try {
      const trace = await train(settings, this.corpus.value ? "" : this.text.value);
      if (request !== this.latest) return;
      this.message.textContent = "";
      this.steps.hidden = false;
      this.splitting.replaceChildren(...splitting(trace.preset));
      const Replay = replayOf(this.learner.value);
      this.word = trace.lattice?.word ?? "";
      const pick = (word) => {
        this.word = word;
        this.load(Number(this.slider.value));
      };
      this.replay = new Replay(trace, this.body, (by = 1) => this.step(by), pick);
      this.trace = trace;
      this.slider.max = trace.steps.length;
      this.slider.value = Math.min(step, trace.steps.length);
      this.predictLabel.hidden = Replay !== MergeReplay;
      this.show();
    } catch (error) {
      if (request !== this.latest) return;
      this.replay = null;
      this.body.replaceChildren();
      this.splitting.replaceChildren();
      this.steps.hidden = true;
      this.message.textContent = error.message;
    }
  }

  /** Add the trained tokenizer to those that encode. */
  encode() {
    const number = ++this.used;
    return this.use(`Trained ${LEARNERS[this.learner.value]}${number > 1 ? ` (${number})` : ""}`);
  }

  async download() {
    const address = URL.createObjectURL(new Blob([await files.saveTrained()], { type: "application/json" }));
    element("a", { href: address, download: "tokenizer.json" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  show() {
    if (!this.replay) return;
    const step = Number(this.slider.value);
    const { steps, step_count: count } = this.trace;
    const shown = count > steps.length ? ` (of ${grouped(count)})` : "";
    this.position.value = step ? `step ${step} of ${grouped(steps.length)}${shown}` : `before step 1 of ${grouped(steps.length)}${shown}`;
    this.replay.show(step, this.predict.checked);
    this.changed();
  }

  step(by) {
    const next = Number(this.slider.value) + by;
    if (next < 0 || next > Number(this.slider.max)) return this.stop();
    this.slider.value = next;
    return this.show();
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.slider.value === this.slider.max) this.slider.value = 0;
    this.show();
    this.play.textContent = "Pause";
    this.timer = setInterval(() => this.step(1), PLAY);
    return undefined;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = "Play";
  }
}

/** Return the sentences that say how texts became words. */
function splitting(preset) {
  if (!preset) return ["The words come from the published example."];
  const { name, about, changed } = preset;
  const shown = [`Preset ${name}${about && `: ${about}`}.`];
  if (!changed) return shown;
  return [...shown, " ", element("span", { class: "reason" }, changesSentence(preset))];
}
