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
  for (const head of all(".board tbody th, .front tbody th")) {
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
    const heads = [...board.tHead.rows[1].cells];
    heads.forEach((head, column) => {
      const title = head.textContent;
      const button = make("button", title, { type: "button", className: "sort" });
      const fixed = title === "P(best)" || title === "rank change";
      const rises = !column || title === "rank" || (board.matches(".low") && !fixed);
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

  // Read a pair out of the triangle, with the pointer or the arrow keys.
  const full = (head) => head.title || head.textContent;
  const pairs = (table) => {
    const found = new Map();
    let first = "";
    for (const row of table.querySelectorAll("tbody tr")) {
      const heads = all("th", row);
      if (heads.length === 2) first = full(heads[0]);
      found.set(`${first}\n${full(heads[heads.length - 1])}`, all("td", row));
    }
    return found;
  };
  for (const figure of all("figure:has(.tri)")) {
    const table = figure.parentElement.querySelector(".pairs");
    const read = make("p", "Point at a cell, or tab to a triangle and use the arrow keys.", {
      className: "read",
    });
    read.setAttribute("aria-live", "polite");
    figure.append(read);
    let known = null;
    all(".tri", figure).forEach((triangle, number) => {
      const svg = triangle.ownerSVGElement;
      const { cell, row, top, labels } = triangle.dataset;
      const names = all(".n text", triangle).map((text) => {
        const title = text.querySelector("title");
        return title ? title.textContent : text.textContent;
      });
      const cursor = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      cursor.setAttribute("class", "cur");
      cursor.setAttribute("width", cell);
      cursor.setAttribute("height", row);
      let [i, j] = [1, 0];
      const tell = () => {
        known = known || pairs(table);
        cursor.setAttribute("x", j * cell);
        cursor.setAttribute("y", Number(top) + i * row);
        triangle.append(cursor);
        const cells = known.get(`${names[j]}\n${names[i]}`);
        const start = `${names[j]} over ${names[i]}, ${labels} labels: `;
        read.textContent = cells
          ? `${start}lead ${cells[2 * number].textContent}, ` +
            `ahead in ${cells[2 * number + 1].textContent} of resamples.`
          : `${start}the numbers of this pair are in run.json.`;
      };
      svg.tabIndex = 0;
      svg.addEventListener("focus", tell);
      svg.addEventListener("pointermove", (event) => {
        const point = new DOMPoint(event.clientX, event.clientY);
        const at = point.matrixTransform(svg.getScreenCTM().inverse());
        const [x, y] = [Math.floor(at.x / cell), Math.floor((at.y - top) / row)];
        if (x < 0 || y >= names.length || x >= y || (x === j && y === i && cursor.parentNode)) return;
        [i, j] = [y, x];
        tell();
      });
      svg.addEventListener("keydown", (event) => {
        const step = {
          ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
        }[event.key];
        if (!step) return;
        event.preventDefault();
        const [y, x] = [i + step[0], j + step[1]];
        if (x >= 0 && y < names.length && x < y) [i, j] = [y, x];
        tell();
      });
    });
  }
  frames();
})();
