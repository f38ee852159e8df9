"use strict";
(() => {
  const root = document.documentElement;
  // The reader's choices are kept in the address, behind "#?", so that a copied link shows the same page.
  const chosen = new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
  const choose = (name, value) => {
    if (value) chosen.set(name, value); else chosen.delete(name);
    history.replaceState(null, "", `#?${chosen}`);
  };
  const links = document.querySelectorAll("#set, #next, #tasks a");
  links.forEach((link) => link.addEventListener("click", () => {
    if (root.dataset.theme) link.hash = `?theme=${root.dataset.theme}`;
  }));

  const theme = document.getElementById("theme");
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  if (["dark", "light"].includes(chosen.get("theme"))) root.dataset.theme = chosen.get("theme");
  if (theme) {
    const name = () => { theme.textContent = dark() ? "Light colours" : "Dark colours"; };
    theme.hidden = false;
    theme.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      choose("theme", root.dataset.theme);
      name();
    });
    name();
  }

  // Hovering or focusing a passage of the paper highlights its lines, and a line its passages.
  const passages = [...document.querySelectorAll("[data-passage]")];
  const numbers = (item) => item.dataset.passage.split(" ");
  const light = (event) => {
    const item = event.target.closest?.("[data-passage]");
    const wanted = item ? numbers(item) : [];
    passages.forEach((each) => each.classList.toggle("lit", numbers(each).some((one) => wanted.includes(one))));
  };
  if (passages.length) ["mouseover", "focusin"].forEach((name) => addEventListener(name, light));

  // A link to something folded opens it.
  const unfold = () => {
    if (!location.hash || location.hash.startsWith("#?")) return;
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let item = place; item; item = item.parentElement) if (item.tagName === "DETAILS") item.open = true;
    place?.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // j and k go to the next and previous part, or task; n to the next task's page; / to the search.
  const parts = () => [...document.querySelectorAll("#tasks tbody tr:not([hidden]) a")].concat(
    document.getElementById("tasks") ? [] : [...document.querySelectorAll("main h2")]);
  const step = (by) => {
    const all = parts();
    const at = all.indexOf(document.activeElement);
    const to = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by];
    if (!to) return;
    if (to.tagName === "H2") to.tabIndex = -1;
    to.focus();
    to.scrollIntoView({ block: to.tagName === "H2" ? "start" : "nearest" });
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "n") document.getElementById("next")?.click();
    else if (event.key === "/") { event.preventDefault(); document.getElementById("search")?.focus(); }
  });

  // Printing unfolds everything except the rows of the list of tasks.
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
  search.value = chosen.get("q") ?? "";
  search.addEventListener("input", () => { choose("q", search.value.trim()); filter(); });
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
