// A table that is wider than the page has its cells one below the other, each with the heading of its column.

(() => {
  const content = document.querySelector(".md-content__inner");
  const tables = [...document.querySelectorAll(".md-content table")];

  function nameCells(table) {
    const headings = [...table.querySelectorAll("thead th")].map((heading) => heading.textContent.trim());
    for (const row of table.querySelectorAll("tbody tr"))
      [...row.cells].forEach((cell, column) => (cell.dataset.heading = headings[column] ?? ""));
  }

  function arrange() {
    for (const table of tables) {
      table.removeAttribute("data-rows");
      const isWide = Math.max(table.scrollWidth, table.offsetWidth) > content.clientWidth;
      if (isWide) nameCells(table);
      table.toggleAttribute("data-rows", isWide);
    }
  }

  if (tables.length) new ResizeObserver(arrange).observe(content);
})();
