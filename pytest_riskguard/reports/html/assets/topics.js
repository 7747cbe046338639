// Tables of topics: searched, sorted, paged, with the rankings of a topic below its row.
const PAGE = 20;
const wanted = {
  "": () => true,
  loss: (comparison, place) => comparison.difference[place] < 0,
  win: (comparison, place) => comparison.difference[place] > 0,
  marked: (comparison, place) => comparison.marks[place] !== "",
};
const compare = (a, b) =>
  typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });

class TopicTable {
  constructor(comparison, section) {
    this.comparison = comparison;
    this.section = section;
    this.body = section.querySelector(".topic-table tbody");
    this.headers = all(".topic-table thead th", section);
    this.open = new Set();
    this.texts = comparison.topics.map((topic, place) =>
      [topic, comparison.queries[place] ?? "", ...tagsOf(comparison, place)].join("\n").toLowerCase());
    this.tagSets = comparison.topics.map((_, place) =>
      new Set(tagsOf(comparison, place).map((tag) => tag.toLowerCase())));
    this.state = this.start();
    this.listen();
  }

  start() {
    return { find: "", show: "", sort: "", page: 1 };
  }

  part(name) { return this.section.querySelector(name); }

  value(column, place) {
    if (column === "query") return this.comparison.queries[place] || this.comparison.topics[place];
    return this.comparison[column][place];
  }

  found() {
    const { tags, words } = searchOf(this.state.find, this.comparison);
    const keep = wanted[this.state.show] ?? wanted[""];
    const places = [...this.comparison.topics.keys()].filter((place) =>
      keep(this.comparison, place) &&
      tags.every((tag) => this.tagSets[place].has(tag)) &&
      words.every((word) => this.texts[place].includes(word)));
    const way = this.state.sort.startsWith("-") ? -1 : 1;
    const column = this.state.sort.replace(/^-/, "");
    if (!column) return places;
    const values = new Map(places.map((place) => [place, this.value(column, place) ?? ""]));
    // topics without a value go last in either direction
    return places.sort((a, b) =>
      (values.get(a) === "") - (values.get(b) === "") || way * compare(values.get(a), values.get(b)));
  }

  cells(place) {
    const { comparison } = this;
    const head = make("th");
    head.scope = "row";
    const name = comparison.queries[place] || comparison.topics[place];
    if (comparison.panelOf.has(place)) {
      const button = make("button", name, "open");
      button.type = "button";
      button.setAttribute("aria-expanded", String(this.open.has(place)));
      button.addEventListener("click", () => this.toggle(place));
      head.append(button);
    } else head.append(make("span", name));
    const small = make("small");
    if (comparison.queries[place]) small.append(comparison.topics[place], " ");
    for (const tag of tagsOf(comparison, place)) {
      const chip = make("a", tag, "tag");
      chip.href = `#${comparison.anchors[0]}?find=${encodeURIComponent(tag)}`;
      small.append(chip, " ");
    }
    if (small.childNodes.length) head.append(" ", small);
    const numbers = this.headers.map((header) => header.dataset.column).slice(1, -1).map((column) => {
      const value = this.value(column, place);
      const cell = make("td", figure(column, value), "number");
      cell.dataset.label = LABELS[column];
      if (column === "difference" && value) cell.classList.add(value < 0 ? "loss" : "win");
      return cell;
    });
    const marks = make("td", comparison.marks[place]);
    marks.dataset.label = LABELS.marks;
    return [head, ...numbers, marks];
  }

  row(place) {
    const row = make("tr");
    row.id = topicAnchor(this.comparison.anchors[0], this.comparison.topics[place]);
    row.dataset.place = String(place);
    row.append(...this.cells(place));
    return row;
  }

  panelRow(place) {
    const row = make("tr", undefined, "panel-row");
    const cell = make("td");
    cell.colSpan = this.headers.length;
    cell.append(rankingPanel(this.comparison, place));
    row.append(cell);
    return row;
  }

  render() {
    const places = this.found();
    const pages = Math.max(Math.ceil(places.length / PAGE), 1);
    this.state.page = Math.min(Math.max(this.state.page, 1), pages);
    this.shown = places.slice((this.state.page - 1) * PAGE, this.state.page * PAGE);
    const lines = [];
    for (const place of this.shown) {
      lines.push(this.row(place));
      if (this.open.has(place)) lines.push(this.panelRow(place));
    }
    this.body.replaceChildren(...lines);
    const { count, topics } = this.comparison;
    const rest = topics.length < count ? ` (the ${topics.length} most harmful of ${count}; the JSON report has all)` : "";
    this.part(".found").value = counted(places.length, topics.length, "topic") + rest;
    this.part(".page").value = `page ${this.state.page} of ${pages}`;
    this.part(".previous").disabled = this.state.page === 1;
    this.part(".next-page").disabled = this.state.page === pages;
    this.part(".pager").hidden = pages === 1;
    for (const header of this.headers) {
      const sorted = this.state.sort.replace(/^-/, "") === header.dataset.column;
      header.setAttribute("aria-sort", !sorted ? "none" : this.state.sort.startsWith("-") ? "descending" : "ascending");
    }
    this.part(".find").value = this.state.find;
    this.part(".which").value = this.state.show;
  }

  rowOf(place) { return this.body.querySelector(`tr[data-place="${place}"]`); }

  toggle(place, open = !this.open.has(place)) {
    const row = this.rowOf(place);
    if (!row || open === this.open.has(place) || !this.comparison.panelOf.has(place)) return;
    row.querySelector(".open").setAttribute("aria-expanded", String(open));
    if (open) {
      this.open.add(place);
      row.after(this.panelRow(place));
    } else {
      this.open.delete(place);
      row.nextElementSibling.remove();
    }
  }

  // The topic's row, on whatever page it is; filters that hide it are taken away.
  show(topic) {
    const place = this.comparison.topics.indexOf(topic);
    if (place < 0) return null;
    if (!this.found().includes(place)) Object.assign(this.state, { find: "", show: "" });
    const at = this.found().indexOf(place);
    if (at < 0) return null;
    this.state.page = Math.floor(at / PAGE) + 1;
    if (this.comparison.panelOf.has(place)) this.open.add(place);
    this.render();
    return this.rowOf(place);
  }

  // What the address says of this table.
  get address() {
    const given = ["find", "show"].map((key) => [key, this.state[key]]).filter(([, value]) => value);
    return this.comparison.anchors[0] + (given.length ? `?${new URLSearchParams(given)}` : "");
  }

  change(changes) {
    Object.assign(this.state, { page: 1 }, changes);
    this.render();
    attempt(() => history.replaceState(null, "", `#${this.address}`));
  }

  listen() {
    this.part(".find").addEventListener("input", (event) => this.change({ find: event.target.value }));
    this.part(".which").addEventListener("change", (event) => this.change({ show: event.target.value }));
    this.part(".previous").addEventListener("click", () => this.change({ page: this.state.page - 1 }));
    this.part(".next-page").addEventListener("click", () => this.change({ page: this.state.page + 1 }));
    this.part(".csv").addEventListener("click", () =>
      download(`${this.comparison.anchors[0]}.csv`, csvOf(this.comparison, this.found())));
    for (const header of this.headers) {
      const button = make("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => {
        const column = header.dataset.column;
        this.change({ sort: this.state.sort === column ? `-${column}` : column });
      });
    }
  }
}
const LABELS = {
  baseline: "Baseline", candidate: "Candidate", difference: "Difference", share: "Share of loss",
  contribution: "Contribution", standardised: "TRi", marks: "Marks",
};
