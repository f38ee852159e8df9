"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  if (theme) {
    const name = () => { theme.textContent = dark() ? "Light colours" : "Dark colours"; };
    theme.hidden = false;
    theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
    name();
  }

  // On paper nothing is folded, but a list of tasks stays a list.
  // Details of one name close each other: they have none while printing.
  let opened = [];
  let named = [];
  addEventListener("beforeprint", () => {
    named = [...document.querySelectorAll("details[name]")].map((item) => [item, item.getAttribute("name")]);
    named.forEach(([item]) => item.removeAttribute("name"));
    opened = [...document.querySelectorAll("details:not([open])")].filter((item) => !item.closest("#tasks"));
    opened.forEach((item) => { item.open = true; });
  });
  addEventListener("afterprint", () => {
    opened.forEach((item) => { item.open = false; });
    named.forEach(([item, name]) => item.setAttribute("name", name));
  });

  const table = document.getElementById("tasks");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, text: row.textContent.toLowerCase() }));
  const search = document.getElementById("search");
  const count = document.getElementById("count");

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { row, text } of rows) {
      const fits = words.every((word) => text.includes(word));
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} tasks`;
  };
  search.addEventListener("input", filter);
  document.getElementById("filters").hidden = false;
  filter();

  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      const order = new Intl.Collator("en", { numeric: true }).compare;
      const numeric = head.classList.contains("number");
      rows.sort((a, b) => {
        const [x, y] = [value(a.row), value(b.row)];
        const found = numeric ? Number(x) - Number(y) : order(x, y);
        return down ? -found : found;
      });
      body.append(...rows.map((item) => item.row));
    });
  });
})();
