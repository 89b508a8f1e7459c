(() => {
  "use strict";
  const root = document.documentElement;
  const all = (query) => [...document.querySelectorAll(query)];

  // Theme: what the system prefers until the reader chooses.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const theme = document.getElementById("theme");
  const say = () => theme.setAttribute("aria-pressed", String(dark()));
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    say();
  });
  system.addEventListener("change", say);
  say();

  // A link to something folded opens it.
  const show = () => {
    const aim = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (aim && aim.tagName === "DETAILS") aim.open = true;
  };
  addEventListener("hashchange", show);
  show();

  // Paper shows what is folded, also where the style alone cannot open it.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    opened.forEach((fold) => (fold.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((fold) => (fold.open = false)));

  // Frames take the keyboard only where there is something to scroll.
  const frames = () => {
    for (const frame of all(".scroll")) {
      const more = frame.scrollWidth > frame.clientWidth + 1 || frame.scrollHeight > frame.clientHeight + 1;
      if (more) frame.tabIndex = 0;
      else frame.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", frames);
  all("details").forEach((fold) => fold.addEventListener("toggle", frames));
  frames();

  // The navigation says where the reader is.
  const links = all("nav a");
  const watch = new IntersectionObserver(
    (seen) => {
      for (const one of seen) {
        if (!one.isIntersecting) continue;
        for (const link of links) {
          if (link.hash === `#${one.target.id}`) link.setAttribute("aria-current", "true");
          else link.removeAttribute("aria-current");
        }
      }
    },
    { rootMargin: "-70px 0px -80% 0px" },
  );
  all("main section").forEach((part) => watch.observe(part));

  // Pointing at a model marks it everywhere.
  let lit = [];
  addEventListener("pointerover", (event) => {
    const mark = event.target.closest && event.target.closest("[data-m]");
    lit.forEach((part) => part.classList.remove("lit"));
    lit = mark ? all(`[data-m="${mark.dataset.m}"]`) : [];
    lit.forEach((part) => part.classList.add("lit"));
  });
})();
