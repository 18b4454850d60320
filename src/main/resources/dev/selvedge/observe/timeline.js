// The page of a timeline: zoom, pan, a filter by the names of scopes, and texts under the pointer.
"use strict";
(() => {
  const one = (id) => document.getElementById(id);
  const view = one("view");
  const svg = view.querySelector("svg");
  const tip = one("tip");
  const said = one("said");
  const most = 200;
  let zoom = 1;

  // Times are percentages of the width: a wider picture is a closer look.
  function zoomTo(wanted, clientX) {
    const box = view.getBoundingClientRect();
    const x = (clientX ?? box.left + box.width / 2) - box.left;
    const part = (view.scrollLeft + x) / (box.width * zoom);
    zoom = Math.min(most, Math.max(1, wanted));
    svg.style.width = `${zoom * 100}%`;
    view.scrollLeft = part * box.width * zoom - x;
    tell();
  }

  let matching = null;
  function tell() {
    const closer = zoom > 1 ? `${zoom < 10 ? zoom.toFixed(1) : Math.round(zoom)} ×` : "";
    const found = matching === null ? "" : `${matching} ${matching === 1 ? "scope" : "scopes"}`;
    said.value = [found, closer].filter((s) => s !== "").join(", ");
  }

  one("in").addEventListener("click", () => zoomTo(zoom * 2));
  one("out").addEventListener("click", () => zoomTo(zoom / 2));
  one("all").addEventListener("click", () => {
    one("filter").value = "";
    filter();
    zoomTo(1);
  });
  view.addEventListener("wheel", (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) {
      e.preventDefault();
      zoomTo(zoom * Math.exp(-(e.deltaY || e.deltaX) / 300), e.clientX);
    }
  }, { passive: false });
  view.addEventListener("dblclick", (e) => zoomTo(zoom * 2, e.clientX));
  view.addEventListener("keydown", (e) => {
    const keys = { "+": zoom * 2, "=": zoom * 2, "-": zoom / 2, "0": 1 };
    if (e.key in keys) {
      zoomTo(keys[e.key]);
    }
  });

  // Drag to move; two fingers to zoom.
  const held = new Map();
  let spread = 0;
  view.addEventListener("pointerdown", (e) => {
    held.set(e.pointerId, e);
    view.classList.add("held");
  });
  view.addEventListener("pointermove", (e) => {
    const before = held.get(e.pointerId);
    if (before === undefined) {
      return;
    }
    held.set(e.pointerId, e);
    if (held.size === 1 && e.pointerType === "mouse") {
      view.scrollLeft -= e.clientX - before.clientX;
      window.scrollBy(0, before.clientY - e.clientY);
    } else if (held.size === 2) {
      const [a, b] = [...held.values()];
      const now = Math.abs(a.clientX - b.clientX);
      if (spread > 0 && now > 0) {
        zoomTo(zoom * now / spread, (a.clientX + b.clientX) / 2);
      }
      spread = now;
    }
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
    view.addEventListener(end, (e) => {
      held.delete(e.pointerId);
      spread = 0;
      view.classList.toggle("held", held.size > 0);
    });
  }

  // What the pointer is on.
  const titles = new Map();
  for (const title of svg.querySelectorAll("title")) {
    titles.set(title.parentNode, title.textContent);
    title.remove(); // else the browser shows it as well
  }
  view.addEventListener("mousemove", (e) => {
    let on = e.target;
    while (on && on !== view && !titles.has(on)) {
      on = on.parentNode;
    }
    tip.hidden = !titles.has(on) || held.size > 0;
    if (!tip.hidden) {
      tip.textContent = titles.get(on);
      const left = Math.min(e.clientX + 12, window.innerWidth - tip.offsetWidth - 8);
      const below = e.clientY + 16 + tip.offsetHeight < window.innerHeight;
      tip.style.left = `${Math.max(4, left)}px`;
      tip.style.top = `${below ? e.clientY + 16 : e.clientY - tip.offsetHeight - 8}px`;
    }
  });
  view.addEventListener("mouseleave", () => { tip.hidden = true; });

  // The filter: outermost scopes without a match are gone, those beside one are faint.
  const roots = [...svg.querySelectorAll(".root")];
  const scopes = [...svg.querySelectorAll(".scope[data-name]")];
  const legend = svg.querySelector(".legend");
  const bottom = Number(legend.dataset.top);
  const height = Number(svg.getAttribute("height"));
  function filter() {
    const wanted = one("filter").value.trim().toLowerCase();
    const matches = new Set(scopes.filter((s) => s.dataset.name.toLowerCase().includes(wanted)));
    matching = wanted === "" ? null : matches.size;
    let gone = 0;
    for (const root of roots) {
      const shown = wanted === "" || [...matches].some((m) => root.contains(m));
      root.style.display = shown ? "" : "none";
      root.setAttribute("transform", `translate(0 ${-gone})`);
      gone += shown ? 0 : Number(root.dataset.bottom) - Number(root.dataset.top);
    }
    for (const scope of scopes) {
      const near = wanted === "" || matches.has(scope)
        || [...matches].some((m) => scope.contains(m) || m.contains(scope));
      scope.classList.toggle("faint", !near);
    }
    for (const band of svg.querySelectorAll(":scope > .band")) {
      band.style.display = wanted === "" ? "" : "none";
    }
    legend.setAttribute("transform", `translate(0 ${-gone})`);
    svg.setAttribute("height", height - gone);
    for (const line of svg.querySelectorAll(".axis line")) {
      line.setAttribute("y2", bottom - gone);
    }
    tell();
  }
  one("filter").addEventListener("input", filter);
  one("tools").addEventListener("submit", (e) => e.preventDefault());
})();
