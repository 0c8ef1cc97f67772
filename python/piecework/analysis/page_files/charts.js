// Draws Vega-Lite charts with the colours of the page, and lets a click on a name emphasize one tokenizer in all.
// Expressions are interpreted (`ast`), so that a policy without `eval` is enough.

const SERIES = ['--s0', '--s1', '--s2', '--s3', '--s4', '--s5', '--s6', '--s7'];
const NUMBERS = ['--o1', '--o2', '--o3', '--o4', '--o5'];

// Draws the charts of a page whose specifications are in the element `charts`.
export function start(page) {
  page.documentElement.classList.add('scripted');
  const specs = JSON.parse(page.getElementById('charts').textContent);
  showCharts(page.body, specs).catch((error) => console.error(error));
}

// Draws the charts into the elements with `data-chart`; returns a promise of a function that removes them.
export async function showCharts(root, specs) {
  const tip = document.createElement('div');
  tip.className = 'chart-tip';
  tip.hidden = true;
  document.body.append(tip);
  let views = [];
  let focus = -1;
  const dark = matchMedia('(prefers-color-scheme: dark)');

  async function draw() {
    const places = [...root.querySelectorAll('[data-chart]')];
    views.forEach((view) => view.finalize());
    views = await Promise.all(places.map((place) => drawn(place, specs[place.dataset.chart], tip)));
    emphasize(focus);
  }

  function emphasize(series) {
    focus = series;
    views.forEach((view) => view.signal('focus', focus).run());
    for (const button of root.querySelectorAll('[data-focus]')) {
      button.setAttribute('aria-pressed', String(Number(button.dataset.focus) === focus));
    }
  }

  for (const button of root.querySelectorAll('[data-focus]')) {
    const series = Number(button.dataset.focus);
    button.addEventListener('click', () => emphasize(focus === series ? -1 : series));
  }
  dark.addEventListener('change', draw);
  addEventListener('scroll', () => { tip.hidden = true; }, { passive: true });
  await draw();
  return () => {
    dark.removeEventListener('change', draw);
    views.forEach((view) => view.finalize());
    tip.remove();
  };
}

async function drawn(place, spec, tip) {
  const target = document.createElement('div');
  // vega-embed empties its element by `innerHTML`, which a page with trusted types forbids.
  Object.defineProperty(target, 'innerHTML', { set: () => target.replaceChildren() });
  target.style.width = '100%';
  place.replaceChildren(target);
  const { view } = await globalThis.vegaEmbed(target, spec, {
    actions: false,
    ast: true,
    config: config(),
    defaultStyle: false,
    renderer: 'svg',
    tooltip: (handler, event, item, value) => showTip(tip, event, value),
  });
  return view;
}

function config() {
  const styles = getComputedStyle(document.documentElement);
  const color = (name) => styles.getPropertyValue(name).trim();
  const font = color('--sans');
  const quiet = color('--quiet');
  const labels = { labelColor: quiet, labelFont: font, labelFontSize: 12, titleColor: quiet, titleFont: font };
  return {
    background: 'transparent',
    font,
    axis: { ...labels, titleFontWeight: 'normal', gridColor: color('--line'), domainColor: color('--line'), tickColor: color('--line') },
    axisY: { domain: false, ticks: false, labelPadding: 6 },
    bar: { color: color('--s0') },
    legend: { ...labels, titleFontWeight: 'normal' },
    range: { category: SERIES.map(color), ordinal: NUMBERS.map(color) },
    rule: { color: color('--ink') },
    text: { color: color('--ink'), fontSize: 12 },
    view: { stroke: null },
  };
}

// Shows the fields of a mark beside the pointer; all of it is text.
function showTip(tip, event, value) {
  tip.hidden = value === null || value === undefined || value === '';
  if (tip.hidden) return;
  const list = document.createElement('dl');
  for (const [name, text] of Object.entries(Object(value))) {
    const term = document.createElement('dt');
    const field = document.createElement('dd');
    term.textContent = name;
    field.textContent = String(text);
    list.append(term, field);
  }
  tip.replaceChildren(list);
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
  const top = event.clientY + 14 + height > innerHeight ? event.clientY - 14 - height : event.clientY + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}
