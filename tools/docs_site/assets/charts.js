// Draws the charts of benchmarks: fields to choose by, bars with their figures, and the same as a table.

(() => {
  const BAR = 28;
  const ROOM = 1.16; // for the figure behind the longest bar
  const base = document.currentScript.src.replace(/charts\.js.*$/, "");
  const places = [...document.querySelectorAll(".chart[data-chart]")];
  if (!places.length) return;
  const vega = document.createElement("script");
  vega.src = `${base}vega.js`;
  vega.addEventListener("load", () => places.forEach(show));
  document.head.append(vega);

  function show(place) {
    const data = JSON.parse(place.querySelector("script").textContent);
    const chosen = {};
    const controls = element("div", { className: "chart-controls" });
    const drawing = element("div", { className: "chart-drawing" });
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
      fill(table, sorted);
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

    function fill(table, rows) {
      const hasMemory = rows.some((row) => row.memory);
      const names = ["library", data.unit, ...(hasMemory ? ["MB of memory"] : [])];
      const line = (row) => [row.library, row.value, ...(hasMemory ? [row.memory ? Math.round(row.memory) : "not recorded"] : [])];
      table.replaceChildren(
        element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", {}, ...rows.map((row) => element("tr", {}, ...line(row).map((value) => element("td", {}, String(value)))))),
      );
    }

    async function draw(rows) {
      const style = getComputedStyle(place);
      const [ours, others, ink] = ["--chart-ours", "--chart-others", "--md-typeset-color"].map((name) => style.getPropertyValue(name).trim());
      const text = { color: ink, font: style.fontFamily, fontSize: 13 };
      const hasMemory = rows.some((row) => row.memory);
      const y = { field: "library", type: "nominal", sort: null, axis: { title: null, domain: false, ticks: false, labelColor: ink, labelFont: style.fontFamily, labelFontSize: 13, labelLimit: 220, labelPadding: 8 } };
      const x = { field: "value", type: "quantitative", axis: null, scale: { domain: [0, Math.max(...rows.map((row) => row.value)) * ROOM], nice: false } };
      const tooltip = [
        { field: "library" },
        { field: "value", title: data.unit },
        ...(hasMemory ? [{ field: "memory", title: "MB of memory", format: ".0f" }] : []),
      ];
      const spec = {
        data: { values: rows },
        width: place.clientWidth,
        height: rows.length * BAR,
        autosize: { type: "fit", contains: "padding" },
        encoding: { y, x, tooltip },
        layer: [
          { mark: { type: "bar", height: 20 }, encoding: { color: { condition: { test: "datum.ours", value: ours }, value: others } } },
          { mark: { type: "text", align: "left", dx: 6, ...text }, encoding: { text: { field: "value" } } },
        ],
        config: { background: "transparent", view: { stroke: null } },
      };
      await vegaEmbed(drawing, spec, { actions: false, renderer: "svg", mode: "vega-lite" });
      drawing.querySelector("svg")?.setAttribute("aria-label", `Bars of ${rows.length} libraries, ${data.unit}; a table follows.`);
    }

    choose();
    let width = place.clientWidth;
    new ResizeObserver(() => {
      if (place.clientWidth !== width) choose();
      width = place.clientWidth;
    }).observe(place);
    new MutationObserver(choose).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  }

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }
})();
