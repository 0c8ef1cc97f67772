// The files of the static page: a drop zone, a button, what did not load, and what the worker does.

import { element } from "./dom.js";

const PATIENCE = 500;

export class FilesView {
  /**
   * `files` is what the backend exports, `count` the number of open tokenizers; `changed(tokenizers, isLonger)` is
   * called with other descriptions.
   */
  constructor(root, files, count, changed) {
    this.count = count;
    this.files = files;
    this.changed = changed;
    this.input = element("input", { type: "file", multiple: true, id: "file", hidden: true });
    this.input.addEventListener("change", () => this.open(this.input.files));
    this.progress = element("span", { class: "progress", role: "status" });
    this.published = element("p", { class: "published", hidden: true });
    this.message = element("div", { role: "alert" });
    root.append(
      element(
        "p",
        { class: "drop" },
        element("button", { type: "button", on: { click: () => this.input.click() } }, "Open tokenizer files"),
        this.input,
        element(
          "span",
          { class: "note" },
          element(
            "span",
            { class: "formats" },
            "or drop them here: tokenizer.json, vocab.txt, .model, .tiktoken, tekken.json, or vocab.json with merges.txt. ",
          ),
          "They stay in this page: nothing is sent anywhere.",
        ),
        this.progress,
      ),
      this.published,
      this.message,
    );
    this.acceptDrops(document.documentElement);
    files.watch((isBusy) => this.showProgress(isBusy));
    this.offerPublished();
  }

  /** Show a button for each published tokenizer that the page has. */
  async offerPublished() {
    const names = await this.files.published();
    const buttons = names.map((name) => element("button", { type: "button", on: { click: () => this.add(name) } }, name));
    this.published.append(
      element("span", { class: "note" }, "Examples:"),
      ...buttons,
      element("a", { class: "note", href: "vocabulary-notices.txt" }, "licenses"),
    );
    this.published.hidden = !names.length;
  }

  add(name) {
    return this.update(this.files.openPublished(name));
  }

  acceptDrops(target) {
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    target.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      target.classList.add("dropping");
    });
    target.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) target.classList.remove("dropping");
    });
    target.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      target.classList.remove("dropping");
      this.open(event.dataTransfer.files);
    });
  }

  /** Open files, and show what they are or why they cannot be read. */
  async open(list) {
    if (!list.length) return;
    await this.update(this.files.open(list));
    this.input.value = "";
  }

  /** Show the tokenizers that a request leads to, and a line for each file that did not load. */
  async update(request) {
    this.say([]);
    try {
      const { tokenizers, errors } = await request;
      this.say(errors);
      const before = this.count;
      this.count = tokenizers.length;
      if (this.count !== before) this.changed(tokenizers, this.count > before);
    } catch (error) {
      this.say([error.message]);
    }
  }

  say(sentences) {
    this.message.replaceChildren(...sentences.map((sentence) => element("p", { class: "error" }, sentence)));
  }

  /** Close a tokenizer. */
  async close(index) {
    await this.update(this.files.close(index));
    this.input.previousSibling.focus();
  }

  /** After half a second of work, offer to cancel it. */
  showProgress(isBusy) {
    clearTimeout(this.timer);
    if (!isBusy) return this.progress.replaceChildren();
    const cancel = element("button", { type: "button", on: { click: () => this.files.cancel() } }, "Cancel");
    this.timer = setTimeout(() => this.progress.replaceChildren("Working … ", cancel), PATIENCE);
    return undefined;
  }
}
