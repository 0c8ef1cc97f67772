// Starts the page: loads the tokenizers, restores the state in the address, switches between the views.

import { EncodeView } from "./encode_view.js";
import { readFragment, writeFragment } from "./permalink.js";
import { loadTokenizers } from "./requests.js";
import { TrainingView } from "./training_view.js";
import { afterPause, element } from "./dom.js";

const EXAMPLE =
  "Hugging faces, unhappily: the tokenization of Zürich’s naïve cafés.\n" +
  "def tokenize(text):\n    return text.split()  # 3.14159\n" +
  "日本語の文章 · Привет, мир! · 👩‍🚀 🇨🇭";
const VIEWS = ["encode", "training"];

const tabs = VIEWS.map((view) => document.getElementById(`${view}-tab`));
const panels = VIEWS.map((view) => document.getElementById(view));
let view = "encode";

function say(message, isError = false) {
  const status = document.getElementById("status");
  status.replaceChildren(message ? element("span", { class: isError ? "error" : "" }, message) : "");
}

function select(name, focus = false) {
  view = VIEWS.includes(name) ? name : "encode";
  VIEWS.forEach((one, i) => {
    panels[i].hidden = one !== view;
    tabs[i].setAttribute("aria-selected", one === view);
    tabs[i].tabIndex = one === view ? 0 : -1;
    if (focus && one === view) tabs[i].focus();
  });
}

async function start() {
  let encodeView;
  let trainingView;
  const write = () => {
    const state = view === "training" ? { view, ...trainingView.state } : encodeView.state;
    if (!writeFragment(state)) say("This text is too long for a link; the address has only the settings.");
  };
  const changed = afterPause(250, write);
  const { tokenizers } = await loadTokenizers();
  tokenizers.forEach((tokenizer, index) => (tokenizer.index = index));
  document.documentElement.classList.add("scripted");
  encodeView = new EncodeView(tokenizers, changed, say);
  trainingView = new TrainingView(document.getElementById("training"), changed);

  const restore = () => {
    const state = readFragment();
    select(state.view);
    if (view === "training") trainingView.state = state;
    else {
      const written = document.getElementById("text").value;
      encodeView.state = { ...state, text: state.text ?? (written || EXAMPLE) };
    }
  };
  const open = (name, focus) => {
    select(name, focus);
    if (view === "training" && !trainingView.isStarted) trainingView.state = {};
    if (view === "encode" && !encodeView.shown) encodeView.state = { text: EXAMPLE };
    changed();
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => open(VIEWS[i]));
    tab.addEventListener("keydown", (event) => {
      if (event.key === "ArrowRight" || event.key === "ArrowLeft") open(VIEWS[1 - i], true);
    });
  });
  addEventListener("hashchange", restore);
  restore();
}

start().catch((error) => say(error.message, true));
