// Starts the page: loads the tokenizers, restores the state in the address, switches between the views.

import { CompareView } from "./compare_view.js";
import { EncodeView } from "./encode_view.js";
import { readFragment, writeFragment } from "./permalink.js";
import { FilesView } from "./files_view.js";
import { compare, files, loadTokenizers } from "./requests.js";
import { TrainingView } from "./training_view.js";
import { afterPause, element } from "./dom.js";

const EXAMPLE =
  "Tokenization splits unhappily long words, even in Zürich’s cafés, and leaves the short ones whole 👍\n" +
  "def tokenize(text):\n    return text.split()  # 3.14159";
const NOTICE = 4000;
const DRAWN = 200;
// The comparison needs Python.
const VIEWS = compare ? ["encode", "compare", "training"] : ["encode", "training"];

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
  let compareView;
  let trainingView;
  let filesView;
  const write = () => {
    const views = { compare: compareView, training: trainingView };
    const state = view in views ? { view, ...views[view]?.state } : encodeView.state;
    if (writeFragment(state)) return;
    say("This text is too long for a link; the address has only the settings.");
    setTimeout(say, NOTICE, "");
  };
  const changed = afterPause(250, write);
  const { tokenizers, presets, limits } = await loadTokenizers();
  tokenizers.forEach((tokenizer, index) => (tokenizer.index = index));
  document.documentElement.classList.add("scripted");
  encodeView = new EncodeView(tokenizers, changed, say, files && ((index) => filesView.close(index)));
  const comparison = document.getElementById("compare");
  if (compare) compareView = new CompareView(comparison, tokenizers, changed);
  else document.getElementById("compare-tab").hidden = true;
  const use = files && ((name) => filesView.update(files.addTrained(name)));
  trainingView = new TrainingView(document.getElementById("training"), presets, limits, changed, use);
  if (files) filesView = openedFiles(tokenizers, encodeView);

  // What was typed before the scripts were loaded stays.
  const field = document.getElementById("text");
  const typed = field.value === field.defaultValue ? undefined : field.value;

  const setComparison = (text) => {
    if (compareView) compareView.state = { text };
  };
  const restore = (_, early) => {
    const state = readFragment();
    select(state.view);
    if (view === "training") trainingView.state = state;
    else if (view === "compare") setComparison(state.text ?? EXAMPLE);
    else {
      encodeView.state = { ...state, text: early ?? state.text ?? (field.value || EXAMPLE) };
    }
  };
  const open = (name, focus) => {
    select(name, focus);
    if (view === "training" && !trainingView.isStarted) trainingView.state = {};
    if (view === "compare" && !compareView?.isStarted) setComparison(encodeView.state.text || EXAMPLE);
    if (view === "encode" && !encodeView.shown) encodeView.state = { text: EXAMPLE };
    changed();
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => open(VIEWS[i]));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: VIEWS.length - 1 }[event.key];
      if (by) open(VIEWS[(i + by) % VIEWS.length], true);
    });
  });
  addEventListener("hashchange", restore);
  restore(null, typed);
}

/** Return the view of the files of the static page, which changes the tokenizers. */
function openedFiles(tokenizers, encodeView) {
  const root = document.getElementById("files");
  root.hidden = false;
  return new FilesView(root, files, tokenizers.length, async (found, isLonger) => {
    found.forEach((tokenizer, index) => (tokenizer.index = index));
    encodeView.setTokenizers(found);
    select("encode");
    await encodeView.update();
    const last = encodeView.panels.at(-1)?.root;
    // Panels before it grow when their tokens are drawn.
    if (isLonger) setTimeout(() => last.scrollIntoView({ block: "nearest" }), DRAWN);
  });
}

start().catch((error) => {
  document.querySelector(".without-script").hidden = true;
  say(error.message, true);
});
