// Draws the charts of benchmarks: fields to choose by, bars with their figures, and the same as a table.

(() => {
  for (const place of document.querySelectorAll(".chart[data-chart]")) show(place);

  function show(place) {
    const data = JSON.parse(place.querySelector("script").textContent);
    const chosen = {};
    const controls = element("div", { className: "chart-controls" });
    const drawing = element("div", { className: "chart-drawing", role: "img" });
    const note = element("p", { className: "chart-note" });
    const table = element("table");
    const details = element("details", {}, element("summary", {}, "The same as a table"), table);
    place.replaceChildren(controls, drawing, note, details);

    function choose() {
      let rows = data.rows;
      controls.replaceChildren(
        ...data.fields.map((field) => {
          const values = [...new Set(rows.map((row) => row[field]))];
          if (!values.includes(chosen[field])) chosen[field] = values[0];
          rows = rows.filter((row) => row[field] === chosen[field]);
          return choice(field, values);
        }),
      );
      const isSpeed = data.unit.endsWith("/s");
      const sorted = rows.toSorted((a, b) => (isSpeed ? b.value - a.value : a.value - b.value));
      note.textContent = `${data.unit}, ${isSpeed ? "more" : "less"} is better. Record: ${rows[0].record}.`;
      fill(sorted);
      draw(sorted);
    }

    function choice(field, values) {
      const options = values.map((value) => element("option", { value, selected: value === chosen[field] }, value));
      const select = element("select", {}, ...options);
      select.addEventListener("change", () => {
        chosen[field] = select.value;
        choose();
        controls.querySelectorAll("select")[data.fields.indexOf(field)].focus();
      });
      return element("label", {}, `${field} `, select);
    }

    function fill(rows) {
      const hasMemory = rows.some((row) => row.memory);
      const names = ["library", data.unit, ...(hasMemory ? ["MB of memory"] : [])];
      const line = (row) => [row.library, row.value, ...(hasMemory ? [row.memory ? Math.round(row.memory) : "not recorded"] : [])];
      table.replaceChildren(
        element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", {}, ...rows.map((row) => element("tr", {}, ...line(row).map((value) => element("td", {}, String(value)))))),
      );
    }

    function draw(rows) {
      const longest = Math.max(...rows.map((row) => row.value));
      drawing.ariaLabel = `Bars of ${rows.length} libraries, ${data.unit}; a table follows.`;
      drawing.replaceChildren(
        ...rows.flatMap((row) => {
          const bar = element("div", { className: row.ours ? "bar ours" : "bar" });
          bar.style.setProperty("--part", row.value / longest);
          return [element("div", {}, row.library), element("div", {}, bar, element("span", {}, String(row.value)))];
        }),
      );
    }

    choose();
  }

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }
})();
