// Shows the figures of a mark beside the pointer, and lets a click on a name emphasize one tokenizer in all charts.
// Without scripts, browsers show the figures themselves.

// Starts the charts inside of an element; returns a function that removes what it added.
export function start(root) {
  document.documentElement.classList.add('scripted');
  const tip = document.createElement('div');
  tip.className = 'chart-tip';
  tip.hidden = true;
  document.body.append(tip);
  for (const title of root.querySelectorAll('.chart title')) {
    const mark = title.parentNode;
    mark.dataset.tip = title.textContent;
    title.remove();
    mark.addEventListener('pointerenter', (event) => showTip(tip, event, mark.dataset.tip));
    mark.addEventListener('pointerleave', () => { tip.hidden = true; });
  }
  let focus = null;
  const buttons = [...root.querySelectorAll('[data-focus]')];
  for (const button of buttons) {
    button.addEventListener('click', () => {
      focus = focus === button.dataset.focus ? null : button.dataset.focus;
      for (const one of buttons) one.setAttribute('aria-pressed', String(one.dataset.focus === focus));
      for (const mark of root.querySelectorAll('[data-series]')) {
        mark.classList.toggle('faded', focus !== null && mark.dataset.series !== focus);
      }
    });
  }
  const hide = () => { tip.hidden = true; };
  addEventListener('scroll', hide, { passive: true });
  return () => {
    removeEventListener('scroll', hide);
    tip.remove();
  };
}

// Builds a drawing from its data: name, attributes and children of each element.
export function drawn([name, attributes, children]) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map((child) => (typeof child === 'string' ? child : drawn(child))));
  return made;
}

// Shows the lines of a tip as names and figures; all of it is text.
function showTip(tip, event, lines) {
  const list = document.createElement('dl');
  for (const line of lines.split('\n')) {
    const at = line.indexOf(': ');
    const term = document.createElement('dt');
    const field = document.createElement('dd');
    term.textContent = line.slice(0, at);
    field.textContent = line.slice(at + 2);
    list.append(term, field);
  }
  tip.replaceChildren(list);
  tip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
  const top = event.clientY + 14 + height > innerHeight ? event.clientY - 14 - height : event.clientY + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}
