// Parts that are rendered when they are opened, and addresses.
const tables = new Map();
const prepare = (part) => {
  for (const element of all(".scripted", part)) element.hidden = false;
  for (const section of all(".topics", part)) {
    const place = Number(section.closest("[data-comparison]").dataset.comparison);
    const table = new TopicTable(data.comparisons[place], section);
    tables.set(place, table);
    table.render();
  }
};
const fill = (folded) => {
  const template = folded.querySelector(":scope > template, :scope > .body > template");
  if (!template) return;
  const holder = make("div", undefined, "rendered");
  holder.append(template.content);
  template.replaceWith(holder);
  prepare(holder);
};
const unfold = (folded) => {
  folded.open = true;
  fill(folded);
};
for (const comparison of data.comparisons) {
  comparison.panelOf = new Map(comparison.panels.topics.map((panel) => [panel[0], panel]));
}
document.addEventListener("toggle", (event) => {
  if (event.target.open) fill(event.target);
}, true);
prepare(document);

// The first query that broke shows what users saw.
if (data.comparisons.length) {
  const first = tables.get(0);
  if (first && first.comparison.difference[0] < 0) first.toggle(0, true);
}

const placeOf = (anchor) => data.comparisons.findIndex((comparison) => comparison.anchors.includes(anchor));
const tableAt = (place) => {
  if (!tables.has(place)) {
    const later = byId(`${data.comparisons[place].id}-later`);
    if (later) unfold(later);
  }
  return tables.get(place);
};
const flash = (element) => {
  for (const other of all(".target")) other.classList.remove("target");
  element.classList.add("target");
};
const focusOn = (row) => {
  const name = row.querySelector("button") ?? row.querySelector("th");
  if (name.tagName === "TH") name.tabIndex = -1;
  name.focus({ preventScroll: true });
};
const decoded = (text) => attempt(() => decodeURIComponent(text)) ?? text;

// An address is a gate, perhaps a topic, and how the table of topics is filtered: #no-risk/c-11, #no-risk?find=kind%3Dcode
const follow = () => {
  const [path, query] = location.hash.slice(1).split(/\?(.*)/s);
  const [gate, topic] = path.split("/");
  const anchor = decoded(gate);
  const place = placeOf(anchor);
  if (place < 0) {
    const element = byId(decoded(path));
    for (let part = element; part; part = part.parentElement) if (part.tagName === "DETAILS") unfold(part);
    if (element) element.scrollIntoView();
    return;
  }
  if (topic === undefined && query === undefined) {
    const part = byId(anchor);
    if (part?.tagName === "DETAILS") unfold(part);
    part?.scrollIntoView();
    return;
  }
  const table = tableAt(place);
  if (!table) return;
  const given = new URLSearchParams(query ?? "");
  table.state = { ...table.start(), find: given.get("find") ?? "", show: given.get("show") ?? "" };
  if (!Object.hasOwn(wanted, table.state.show)) table.state.show = "";
  const row = topic === undefined ? null : table.show(decoded(topic));
  if (!row) table.render();
  else flash(row);
  (row ?? table.section).scrollIntoView();
  if (row) focusOn(row);
};
addEventListener("hashchange", follow);
// The address that the page has already leads to its place again.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (!link || link.hash !== location.hash || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  follow();
});
if (location.hash) follow();

// A mark of a chart opens the rankings of its topic.
document.addEventListener("click", (event) => {
  const mark = event.target.closest?.(".m[data-topic]");
  if (!mark) return;
  const comparison = data.comparisons[Number(mark.closest("[data-comparison]").dataset.comparison)];
  const address = `#${topicAnchor(comparison.anchors[0], mark.dataset.topic)}`;
  if (location.hash === address) follow();
  else location.hash = address;
});

// Everything at once: all parts, and the rankings of all topics on the pages that are shown.
const expand = byId("rg-expand");
expand.addEventListener("click", () => {
  const open = expand.getAttribute("aria-pressed") !== "true";
  for (const folded of all("main .gate, main .later")) {
    folded.open = open;
    if (open) fill(folded);
  }
  for (const table of tables.values()) for (const place of table.shown) table.toggle(place, open);
  expand.setAttribute("aria-pressed", String(open));
  expand.textContent = open ? "Collapse all" : "Expand all";
});
