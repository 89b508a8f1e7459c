(() => {
  "use strict";
  const galleries = [...document.querySelectorAll(".gallery")];
  const key = `equipoise:marks:${galleries[0].dataset.run}`;
  const done = [];
  const marks = new Map(galleries.map((one) => [one.dataset.task, new Map()]));
  let store = null;
  let who = "";

  // A browser may forbid keeping anything; then marks last as long as the page is open.
  try {
    store = window.localStorage;
    const found = JSON.parse(store.getItem(key) || "null");
    who = String(found?.who || "");
    for (const [task, item, mark] of found?.votes || []) marks.get(task)?.set(item, mark);
  } catch {
    store = null;
  }
  const listed = () => [...marks].flatMap(([task, own]) => [...own].map(([item, mark]) => [task, item, mark]));
  const keep = () => {
    try {
      store?.setItem(key, JSON.stringify({ who, votes: listed() }));
    } catch {
      store = null;
    }
  };
  const marksBeside = (shot) => marks.get(shot.closest(".gallery").dataset.task);
  const markOf = (shot) => marksBeside(shot).get(shot.dataset.item);

  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const votes = () => {
    const rows = listed().map(([task, item, mark]) => [item, who.trim() || "reviewer", mark, task]);
    return [["item", "annotator", "label", "task"], ...rows].map((row) => row.map(quoted).join(",") + "\n").join("");
  };
  const hand = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([votes()], { type: "text/csv" }));
    link.download = "votes.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const tell = () => {
    let total = 0;
    for (const gallery of galleries) {
      const { yes, no } = gallery.dataset;
      const shots = [...gallery.querySelectorAll(".shot")];
      const said = shots.map(markOf);
      const bad = said.filter((one) => one === "yes").length;
      const fine = said.filter((one) => one === "no").length;
      total += bad + fine;
      const loose = store ? "" : " This browser keeps no marks: download them before you leave.";
      gallery.querySelector(".told").textContent =
        `${bad + fine} of ${shots.length} judged: ${yes} ${bad}, ${no} ${fine}.${loose}`;
    }
    for (const gallery of galleries) gallery.querySelector(".get-votes").disabled = !total;
  };
  const show = (shot) => {
    const mark = markOf(shot);
    if (mark) shot.dataset.mark = mark;
    else delete shot.dataset.mark;
    for (const button of shot.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.mark === mark));
    }
  };
  const put = (shot, mark) => {
    if (mark) marksBeside(shot).set(shot.dataset.item, mark);
    else marksBeside(shot).delete(shot.dataset.item);
    keep();
    show(shot);
    tell();
  };
  const judge = (shot, mark) => {
    done.push([shot, markOf(shot)]);
    put(shot, mark);
  };

  // One suspect of a gallery takes the keyboard, with its buttons; arrows hand it on.
  const stand = (gallery, shot) => {
    for (const one of gallery.querySelectorAll(".shot")) {
      const here = one === shot;
      one.tabIndex = here ? 0 : -1;
      for (const button of one.querySelectorAll("button")) button.tabIndex = here ? 0 : -1;
    }
  };
  const go = (shot) => {
    if (!shot) return;
    const box = shot.closest(".folding")?.querySelector("input");
    if (box && shot.closest(".later")) box.checked = true;
    stand(shot.closest(".gallery"), shot);
    shot.focus();
  };
  const beside = (shots, at, way) => {
    const top = (one) => shots[one].getBoundingClientRect().top;
    const wide = Math.max(1, shots.findIndex((_, one) => one && top(one) !== top(0)));
    return shots[Math.max(0, Math.min(shots.length - 1, at + way * wide))];
  };
  const modified = (event) => event.ctrlKey || event.metaKey || event.altKey;
  const inView = (one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return Math.min(bottom, window.innerHeight) - Math.max(top, 0); // pixels, none where below 0
  };
  // While nothing has the focus, a key is for the suspect that takes the keyboard in the gallery
  // of which most is in view; one that cannot be seen is shown and not judged.
  const start = (event) => {
    const free = document.activeElement === document.body || !document.activeElement;
    if (!free || modified(event) || !/^([ynu]|ArrowRight|ArrowLeft)$/i.test(event.key)) return;
    const most = galleries.reduce((one, other) => (inView(other) > inView(one) ? other : one));
    if (inView(most) <= 0) return;
    const shot = most.querySelector(".shot[tabindex='0']");
    const judged = /^[ynu]$/i.test(event.key) && inView(shot) > 0;
    event.preventDefault();
    go(shot);
    if (judged) shot.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, bubbles: true }));
  };
  const press = (event) => {
    const shot = event.target.closest(".shot");
    if (!shot || modified(event)) return;
    const shots = [...shot.closest(".gallery").querySelectorAll(".shot")];
    const at = shots.indexOf(shot);
    const moves = {
      ArrowRight: () => go(shots[at + 1]),
      ArrowLeft: () => go(shots[at - 1]),
      ArrowDown: () => go(beside(shots, at, 1)),
      ArrowUp: () => go(beside(shots, at, -1)),
      Home: () => go(shots[0]),
      End: () => go(shots.at(-1)),
      y: () => {
        judge(shot, "yes");
        go(shots[at + 1]);
      },
      n: () => {
        judge(shot, "no");
        go(shots[at + 1]);
      },
      u: () => {
        const last = done.pop();
        if (!last) return;
        put(...last);
        go(last[0]);
      },
    };
    const move = moves[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };

  for (const gallery of galleries) {
    const shots = [...gallery.querySelectorAll(".shot")];
    gallery.querySelectorAll("[hidden]").forEach((one) => (one.hidden = false));
    shots.forEach(show);
    stand(gallery, shots[0]);
    gallery.addEventListener("keydown", press);
    gallery.addEventListener("focusin", (event) => {
      const shot = event.target.closest(".shot");
      if (shot) stand(gallery, shot);
    });
    gallery.addEventListener("click", (event) => {
      const button = event.target.closest(".marks button");
      if (!button) return;
      const shot = button.closest(".shot");
      judge(shot, markOf(shot) === button.dataset.mark ? undefined : button.dataset.mark);
    });
    gallery.querySelector(".get-votes").addEventListener("click", hand);
    const name = gallery.querySelector(".who");
    name.value = who;
    name.addEventListener("input", () => {
      who = name.value;
      keep();
      for (const other of document.querySelectorAll(".who")) if (other !== name) other.value = name.value;
    });
  }
  document.addEventListener("keydown", start);
  tell();
})();
