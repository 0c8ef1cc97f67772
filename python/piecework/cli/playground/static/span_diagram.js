// A drawing of spans over the characters of a word: prefixes that were tried, pieces of a lattice, merges.

import { svg, visible } from "./dom.js";

const CELL = 42;
const SMALLEST = 22;
const LETTER = 8;
const SQUEEZED = 5.5;
const ROW = 28;
const PAD = 10;
const MOST_ROWS = 60;

/**
 * Return an SVG drawing with a column for each cell and bars above them.
 *
 * `bars` have `start`, `end`, `label`, `note`, `short` (shown where the note has no room), `kind` ("best", "match",
 * "failed" or "plain") and optionally `row`, counted from the bottom; others go to the first free row. A `weight` from
 * 0 to 1 is the strength of the colour. `pick(bar)` is called for a bar that is clicked. Labels are in the middle of
 * their bars; at the start with `labels` "start", and in drawings that are wider than the window. Columns become
 * narrower, down to a limit, so that a drawing fits into `room` pixels.
 */
export function spanDiagram({ cells, bars, title, nodes = false, pick = null, labels = "middle", ...size }) {
  const { room = Infinity, cellWidth = fitting((room - 2 * PAD) / cells.length) } = size;
  const placed = place(bars).filter((bar) => bar.row < MOST_ROWS);
  const rows = Math.max(1, ...placed.map((bar) => bar.row + 1));
  const width = cells.length * cellWidth + 2 * PAD;
  const isAtStart = labels === "start" || width > innerWidth;
  const bottom = rows * ROW + PAD;
  const height = bottom + 34;
  const drawing = svg("svg", {
    class: "diagram",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": title,
  });
  cells.forEach((cell, i) => {
    const x = PAD + i * cellWidth;
    drawing.append(svg("line", { class: "guide", x1: x, x2: x, y1: PAD / 2, y2: bottom }));
    const text = svg("text", { class: "cell", x: x + cellWidth / 2, y: bottom + 22 });
    text.textContent = visible(cell);
    drawing.append(text);
  });
  const right = PAD + cells.length * cellWidth;
  drawing.append(svg("line", { class: "guide", x1: right, x2: right, y1: PAD / 2, y2: bottom }));
  drawing.append(svg("line", { class: "base", x1: PAD, x2: right, y1: bottom, y2: bottom }));
  for (const bar of placed) drawing.append(drawnBar(bar, bottom, pick, cellWidth, isAtStart));
  if (nodes) {
    const ends = new Set([0]);
    for (const bar of placed) if (bar.kind === "best") ends.add(bar.start).add(bar.end);
    for (let i = 0; i <= cells.length; i++) {
      const kind = ends.has(i) ? "node best" : "node";
      drawing.append(svg("circle", { class: kind, cx: PAD + i * cellWidth, cy: bottom, r: ends.has(i) ? 5 : 3 }));
    }
  }
  return drawing;
}

function fitting(width) {
  return Math.max(SMALLEST, Math.min(CELL, width));
}

function drawnBar(bar, bottom, pick, cellWidth, isAtStart) {
  const x = PAD + bar.start * cellWidth + 2;
  const width = (bar.end - bar.start) * cellWidth - 4;
  const y = bottom - (bar.row + 1) * ROW + 3;
  const group = svg("g", { class: `piece ${bar.kind}${pick ? " can-pick" : ""}` });
  const rect = svg("rect", { x, y, width, height: ROW - 5, rx: 6 });
  if (bar.weight !== undefined) rect.style.setProperty("--weight", bar.weight);
  group.append(rect);
  const most = Math.max(1, Math.floor((width - 4) / SQUEEZED));
  const indent = cellWidth < CELL ? 3 : 8;
  const label = visible(bar.label);
  const room = Math.floor((width - 8) / 7.4) - label.length - 1;
  const fitting = [bar.note, bar.short].find((one) => one && one.length <= room);
  const note = fitting ? ` ${fitting}` : "";
  const text = svg("text", { class: isAtStart ? "start" : null, x: isAtStart ? x + indent : x + width / 2, y: y + 16 });
  text.textContent = label.length > most ? `${label.slice(0, Math.max(1, most - 1))}…` : label;
  if (text.textContent.length * LETTER > width - 4) {
    text.setAttribute("textLength", width - 4);
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  if (note) {
    const small = svg("tspan", { class: "note" });
    small.textContent = note;
    text.append(small);
  }
  const title = svg("title");
  title.textContent = bar.note ? `${label}  ${bar.note}` : label;
  group.append(text, title);
  if (pick) group.addEventListener("click", () => pick(bar));
  return group;
}

/** Return the bars with rows: the best at the bottom, then the shortest, each in the first row that is free. */
function place(bars) {
  const order = bars.map((bar, i) => ({ ...bar, index: i }));
  order.sort((a, b) => (b.kind === "best") - (a.kind === "best") || a.end - a.start - (b.end - b.start));
  const taken = [];
  for (const bar of order) {
    if (bar.row === undefined) {
      let row = bar.kind === "best" ? 0 : order.some((one) => one.kind === "best") ? 1 : 0;
      while (taken[row]?.some(([start, end]) => bar.start < end && start < bar.end)) row++;
      bar.row = row;
    }
    (taken[bar.row] ??= []).push([bar.start, bar.end]);
  }
  return order.sort((a, b) => a.index - b.index);
}
