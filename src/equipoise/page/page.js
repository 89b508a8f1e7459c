(() => {
  "use strict";
  const root = document.documentElement;
  const all = (query, from = document) => [...from.querySelectorAll(query)];
  const make = (name, text, properties) =>
    Object.assign(document.createElement(name), { textContent: text }, properties);

  // Theme: what the system prefers until the reader chooses.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const theme = make("button", "", { type: "button", className: "theme" });
  const name = () => {
    theme.textContent = dark() ? "Light theme" : "Dark theme";
  };
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  name();
  document.querySelector("h1").after(theme);

  // Choice of task and metric: kept in the address, so that it can be shared.
  const keep = () => {
    const chosen = all(".choose input:checked").map((box) => box.id);
    history.replaceState(null, "", `#show=${chosen.join(",")}`);
    frames();
  };
  const shown = /^#show=([a-z0-9,]+)$/.exec(location.hash);
  if (shown) {
    for (const id of shown[1].split(",")) {
      const box = document.getElementById(id);
      if (box && box.type === "radio") box.checked = true;
    }
  }
  all(".choose input").forEach((box) => box.addEventListener("change", keep));

  // Frames take the keyboard only where there is something to scroll.
  const frames = () => {
    for (const frame of all(".scroll, .frame")) {
      const wide = frame.scrollWidth > frame.clientWidth + 1;
      if (wide) frame.tabIndex = 0;
      else frame.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", frames);
  all("details").forEach((fold) => fold.addEventListener("toggle", frames));

  // Paper shows what is folded but kept, also where the style alone cannot open it.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details.kept:not([open])");
    opened.forEach((fold) => (fold.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((fold) => (fold.open = false)));

  // Highlight one model in all figures.
  let pinned = "";
  const owner = (target) => {
    const mark = target.closest ? target.closest("[class^=m]") : null;
    return mark ? mark.classList[0] : "";
  };
  const light = (model) => {
    if (model) root.dataset.on = model;
    else delete root.dataset.on;
  };
  document.addEventListener("pointerover", (event) => light(owner(event.target) || pinned));
  const pin = (model) => {
    pinned = pinned === model ? "" : model;
    light(pinned);
    for (const button of all(".pin")) {
      button.setAttribute("aria-pressed", String(owner(button) === pinned));
    }
  };
  for (const head of all(".board tr[class^=m] > th")) {
    const button = make("button", head.textContent, { type: "button", className: "pin" });
    button.setAttribute("aria-pressed", "false");
    button.title = `${head.title || head.textContent}: highlight in all figures`;
    button.addEventListener("click", () => pin(owner(head)));
    head.replaceChildren(button);
  }

  // Sort the leaderboard by any column, first the best on top.
  const value = (row, column) => {
    const text = row.cells[column].textContent.trim();
    if (column === 0) return text.toLowerCase();
    const sign = text.startsWith("▼") ? -1 : 1;
    if (/^[−-]?∞/.test(text)) return text[0] === "∞" ? 1e300 : -1e300;
    const found = /[−-]?[\d.]+/.exec(text.replace(/,/g, ""));
    if (!found) return NaN;
    const edge = text.startsWith("<") ? -0.5 : text.startsWith(">") ? 0.5 : 0;
    return sign * Number(found[0].replace("−", "-")) + edge;
  };
  const order = (a, b) => {
    if (typeof a === "string") return a.localeCompare(b);
    if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : Infinity;
    return Number.isNaN(b) ? -Infinity : a - b;
  };
  for (const board of all(".board")) {
    const heads = [...board.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const title = head.textContent;
      const button = make("button", title, { type: "button", className: "sort" });
      const rises = !column || "up" in head.dataset;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const up = now ? now === "descending" : rises;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...board.tBodies[0].rows];
        rows.sort((a, b) => {
          const gap = order(value(a, column), value(b, column));
          return Number.isFinite(gap) ? (up ? gap : -gap) : Math.sign(gap);
        });
        board.tBodies[0].append(...rows);
      });
    });
  }

  frames();
})();
