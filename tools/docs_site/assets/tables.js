// A table that is wider than the page can be scrolled by keys, too.

(() => {
  const sizes = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      const frame = target.closest(".md-typeset__scrollwrap");
      if (!frame) continue;
      const isWide = frame.scrollWidth > frame.clientWidth;
      frame.toggleAttribute("tabindex", isWide);
      if (isWide) {
        frame.tabIndex = 0;
        frame.role = "region";
        frame.ariaLabel = "Table";
      }
    }
  });
  for (const table of document.querySelectorAll(".md-content table")) sizes.observe(table);
})();
