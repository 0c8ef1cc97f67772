// Elements are made from data with `textContent`, never from HTML, so that no token can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return an HTML element with properties (`class`, `on`, `aria-*` and others) and children. */
export function element(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Return an SVG element with attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(made, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null && child !== false && child !== ""));
  return made;
}

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;
const SYMBOLS = { " ": "␣", "\n": "⏎", "\t": "⇥" };

/** Return a text with control characters as visible pictures. */
export function withoutControls(text) {
  return text.replace(CONTROL, (c) => (c === "\u007f" ? "␡" : String.fromCharCode(0x2400 + c.charCodeAt(0))));
}

/** Return a text with whitespace and control characters as symbols. */
export function visible(text) {
  return withoutControls(text.replace(/[ \n\t]/g, (c) => SYMBOLS[c]));
}

/** Return a number with separators of thousands. */
export function grouped(number) {
  return number.toLocaleString("en-US");
}

/** Return a paragraph with a note of a trace as a sentence. */
export function sentence(note) {
  return element("p", { class: "reason" }, `${note[0].toUpperCase()}${note.slice(1)}.`);
}

/** Return a function that calls another one after a pause without calls. */
export function afterPause(milliseconds, action) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
}
