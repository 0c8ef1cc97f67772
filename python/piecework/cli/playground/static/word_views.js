// How one word is segmented: the prefixes that WordPiece tries, the lattice of Unigram, the merges of BPE.

import { element, grouped, visible } from "./dom.js";
import { spanDiagram } from "./span_diagram.js";

const MOST_CELLS = 64;

/** Return the elements that show a word, as `explain` describes it, in drawings for a width of `room` pixels. */
export function wordView(word, room) {
  if ([...word.word].length > MOST_CELLS) return [note(`Drawings show words of at most ${MOST_CELLS} characters.`)];
  if (word.search) return searchView(word.word, word.search, room);
  if (word.lattice) return latticeView(word.word, word.lattice, room);
  const why = word.note ? [note(word.note)] : [];
  if (word.merges && word.symbols.length > 1) return [...why, ...mergesView(word.symbols, word.merges, room)];
  if (word.note) return why;
  if (word.symbols?.length === 1) return [note("One symbol: there is nothing to merge.")];
  return [note("This model takes words whole, or character by character.")];
}

function note(text) {
  return element("p", { class: "note" }, text);
}

function scrolled(drawing) {
  return element("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Drawing" }, drawing);
}

export function chips(tokens, kind = "") {
  return element(
    "span",
    { class: `chips ${kind}` },
    ...tokens.map((token, i) => element("span", { class: `chip c${i % 5}` }, visible(token))),
  );
}

// ---- WordPiece

function searchView(word, search, room) {
  const cells = [...word];
  const bars = [];
  const tried = search.positions.flatMap(({ start, tried, match }) =>
    tried.map((prefix, i) => ({ start, end: cells.length - i, prefix, isMatch: prefix === match })),
  );
  tried.forEach((one, i) => {
    const kind = one.isMatch ? "match" : "failed";
    const row = tried.length - 1 - i;
    bars.push({ ...one, row, label: one.prefix, kind });
  });
  const made = [];
  if (tried.length) {
    made.push(note("Prefixes in the order of the search: the longest first. A dashed one is no entry of the vocabulary; the first that is one becomes a token."));
    made.push(scrolled(spanDiagram({ cells, bars, title: `Prefixes tried for ${word}`, labels: "start", room })));
  }
  made.push(element("p", {}, chips(search.tokens)));
  if (search.unknown_because) made.push(element("p", { class: "reason" }, `Unknown: ${search.unknown_because}.`));
  const [longest, fewest] = [search.greedy, search.shortest];
  if (fewest && fewest.join(" ") !== longest?.join(" ")) {
    made.push(element("p", { class: "note" }, "Fewest tokens: ", chips(fewest)));
  }
  return made;
}

// ---- Unigram

function latticeView(word, lattice, room) {
  const bars = lattice.edges.map((edge) => ({
    start: edge.start,
    end: edge.end,
    label: edge.piece,
    note: edge.score.toFixed(2),
    kind: edge.is_best ? "best" : edge.is_known ? "plain" : "failed",
  }));
  const title = `Lattice of ${word}: the best path is ${lattice.best.join(" ")}`;
  const best = lattice.segmentations[0]?.[1] ?? 0;
  const rows = lattice.segmentations.map(([pieces, score], i) => {
    const ratio = Math.exp(score - best);
    return element(
      "tr",
      { class: i ? null : "winner" },
      element("td", {}, chips(pieces)),
      element("td", { class: "number" }, score.toFixed(4)),
      element("td", { class: "number" }, i ? `${(ratio * 100).toPrecision(2)} %` : "best"),
    );
  });
  const head = ["pieces", "log probability", "relative"].map((name) => element("th", { scope: "col" }, name));
  return [
    note("Every piece that occurs in the word is a bar; the path with the highest sum of scores is at the bottom."),
    scrolled(spanDiagram({ cells: [...word], bars, title, nodes: true, room })),
    element("table", { class: "grid" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
  ];
}

// ---- BPE

/** Return the nodes of all merges: leaves first, then one node for each merge, in order. */
function mergeNodes(symbols, merges) {
  let at = 0;
  const leaves = symbols.map((token) => ({ token, start: at, end: ++at, height: 0, step: 0 }));
  const line = [...leaves];
  const inner = merges.map((merge, i) => {
    const [left, right] = [line[merge.at], line[merge.at + 1]];
    const height = Math.max(left.height, right.height) + 1;
    const node = { token: merge.token, start: left.start, end: right.end, height, step: i + 1, left, right };
    node.rank = merge.rank;
    line.splice(merge.at, 2, node);
    return node;
  });
  return { leaves, inner };
}

function mergesView(symbols, merges, room) {
  const { leaves, inner } = mergeNodes(symbols, merges);
  const undone = new Set();
  const drawing = element("div");
  const result = element("p", { "aria-live": "polite" });
  const slider = element("input", {
    type: "range",
    min: 0,
    max: inner.length,
    value: inner.length,
    "aria-label": "Merges applied",
  });
  const label = element("output", { class: "number" });

  function isMade(node) {
    return node.step <= Number(slider.value) && !undone.has(node) && (!node.left || (isMade(node.left) && isMade(node.right)));
  }

  function show() {
    const made = inner.filter(isMade);
    const used = new Set(made.flatMap((node) => [node.left, node.right]));
    const top = [...leaves, ...made].filter((node) => !used.has(node)).sort((a, b) => a.start - b.start);
    const bars = made.map((node) => ({
      ...node,
      node,
      row: node.height - 1,
      label: node.token,
      note: `rank ${grouped(node.rank)}`,
      kind: used.has(node) ? "plain" : "best",
    }));
    const title = `Merges of ${symbols.join("")}`;
    const undo = (bar) => (undone.add(bar.node), show());
    drawing.replaceChildren(scrolled(spanDiagram({ cells: symbols, bars, title, pick: undo, room })));
    const parts = top.map((node, i) =>
      node.left
        ? element(
            "button",
            {
              type: "button",
              class: `chip c${i % 5}`,
              title: `Undo merge ${node.step}, rank ${grouped(node.rank)}`,
              on: { click: () => (undone.add(node), show(), result.querySelector("button")?.focus()) },
            },
            visible(node.token),
          )
        : element("span", { class: `chip c${i % 5}` }, visible(node.token)),
    );
    result.replaceChildren(element("span", { class: "chips" }, ...parts));
    label.value = `${slider.value} of ${inner.length} merges`;
  }

  slider.addEventListener("input", () => (undone.clear(), show()));
  const again = element("button", { type: "button", class: "plain" }, "Merge again");
  again.addEventListener("click", () => {
    undone.clear();
    slider.value = inner.length;
    show();
  });
  show();
  return [
    note("Merges from the bottom up, each with its rank: lower ranks were learned earlier. Select a token to undo its merge."),
    drawing,
    element("div", { class: "bar" }, slider, label, again),
    result,
  ];
}
