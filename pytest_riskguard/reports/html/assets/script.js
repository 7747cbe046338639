"use strict";
// Everything here is convenience: the page is complete without it. Text is only ever set as text.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });
  const said = (count, of, what) => (count === of ? "" : `${count} of `) + (of === 1 ? `1 ${what}` : `${of} ${what}s`);

  for (const element of all(".scripted")) element.hidden = false;

  // Light or dark: the system's choice until the reader asks for the other.
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const now = root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.style.colorScheme = now === "dark" ? "light" : "dark";
  });

  // Headers that sort; `sort` is called with the header and the direction.
  const sortable = (headers, start, sort) => {
    for (const header of headers) {
      const button = make("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      header.setAttribute("aria-sort", header === start ? "ascending" : "none");
      button.addEventListener("click", () => {
        const up = header.getAttribute("aria-sort") !== "ascending";
        for (const other of headers) other.setAttribute("aria-sort", "none");
        header.setAttribute("aria-sort", up ? "ascending" : "descending");
        sort(header, up ? 1 : -1);
      });
    }
  };

  // A table whose rows are all in the page.
  const cellValue = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    const number = Number(text.replace("−", "-"));
    return text !== "" && Number.isFinite(number) ? number : text;
  };
  const sortInPlace = (table, start) => {
    const headers = all("thead th", table);
    const body = table.tBodies[0];
    sortable(headers, start, (header, way) => {
      const column = headers.indexOf(header);
      const rows = [...body.rows].map((row) => [cellValue(row, column), row]);
      // rows without a value go last in either direction
      rows.sort(([a], [b]) => (a === "") - (b === "") || way * compare(a, b));
      body.append(...rows.map(([, row]) => row));
    });
  };

  // The overview of gates.
  const overview = document.getElementById("gates-table");
  if (overview) {
    sortInPlace(overview, null);
    const find = document.getElementById("find-gate");
    const outcome = document.getElementById("find-outcome");
    const found = document.getElementById("found-gates");
    const filter = () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      const rows = [...overview.tBodies[0].rows];
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const other = outcome.value && row.dataset.outcome !== outcome.value;
        row.hidden = other || !words.every((word) => text.includes(word));
        const gate = document.getElementById(row.querySelector("a").hash.slice(1)).closest(".gate");
        gate.hidden = row.hidden;
      }
      found.value = said(rows.filter((row) => !row.hidden).length, rows.length, "gate");
    };
    find.addEventListener("input", filter);
    outcome.addEventListener("change", filter);
    filter();
  }

  // Tables of topics: short ones are sorted in place, long ones are built from the data.
  const data = JSON.parse(document.getElementById("data").textContent);
  const [BASELINE, DIFFERENCE, CONTRIBUTION, MARKS, DOCUMENTS] = [3, 5, 6, 8, 9];
  const decimals = { 3: 4, 4: 4, 5: 4, 6: 5, 7: 2 };
  const figure = (value, column) => {
    const text = value.toFixed(decimals[column]);
    if (column < DIFFERENCE) return text;
    if (Number(text) === 0 && value !== 0) {
      const [digits, power] = value.toExponential(1).split("e");
      const sign = value > 0 ? "+" : "";
      return `${sign}${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
    }
    return value >= 0 ? `+${text}` : text;
  };
  const cell = (row, column) => {
    if (column === 0) {
      const header = make("th", row[0]);
      header.scope = "row";
      return header;
    }
    if (column === DOCUMENTS) {
      const place = make("td");
      if (row[DOCUMENTS]) {
        const link = make("a", "see");
        link.href = `#${row[DOCUMENTS]}`;
        link.setAttribute("aria-label", `documents of ${row[0]}`);
        place.append(link);
      }
      return place;
    }
    if (column < BASELINE || column === MARKS) return make("td", row[column], ["", "query", "tags"][column] ?? "");
    let look = "number";
    if (column === DIFFERENCE && row[column]) look += row[column] < 0 ? " loss" : " win";
    return make("td", figure(row[column], column), look);
  };
  const wanted = {
    "": () => true,
    loss: (row) => row[DIFFERENCE] < 0,
    win: (row) => row[DIFFERENCE] > 0,
    marked: (row) => row[MARKS] !== "",
  };
  const pageThrough = (table, { of, rows }) => {
    const section = table.closest(".topics");
    const part = (name) => section.querySelector(name);
    const headers = all("thead th", table);
    const columns = headers.map((header) => Number(header.dataset.column));
    const size = table.tBodies[0].rows.length;
    const texts = new Map(rows.map((row) => [row, row.slice(0, 3).join("\n").toLowerCase()]));
    let order = rows;
    let page = 0;
    const show = () => {
      const words = part(".find").value.toLowerCase().split(/\s+/).filter(Boolean);
      const keep = wanted[part(".which").value];
      const found = order.filter((row) => keep(row) && words.every((word) => texts.get(row).includes(word)));
      const pages = Math.max(Math.ceil(found.length / size), 1);
      page = Math.min(page, pages - 1);
      const lines = found.slice(page * size, (page + 1) * size).map((row) => {
        const line = make("tr");
        line.append(...columns.map((column) => cell(row, column)));
        return line;
      });
      table.tBodies[0].replaceChildren(...lines);
      const rest = rows.length < of ? ` (the ${rows.length} most harmful of ${of}; the JSON report has all)` : "";
      part(".found").value = said(found.length, rows.length, "topic") + rest;
      part(".page").value = `page ${page + 1} of ${pages}`;
      part(".before").disabled = page === 0;
      part(".next").disabled = page === pages - 1;
    };
    const restart = () => {
      page = 0;
      show();
    };
    const start = headers.find((header) => Number(header.dataset.column) === CONTRIBUTION);
    sortable(headers, start, (header, way) => {
      const column = Number(header.dataset.column);
      order = [...rows].sort((a, b) => way * compare(a[column], b[column]));
      restart();
    });
    part(".find").addEventListener("input", restart);
    part(".which").addEventListener("change", restart);
    part(".before").addEventListener("click", () => { page -= 1; show(); });
    part(".next").addEventListener("click", () => { page += 1; show(); });
    show();
  };
  for (const table of all(".topic-table")) {
    const rows = data[table.dataset.gate];
    if (rows) pageThrough(table, rows);
    else sortInPlace(table, table.querySelector(`th[data-column="${CONTRIBUTION}"]`));
  }

  // Tooltips for the marks of charts: under the pointer, and one after the other with the arrow keys.
  const tip = document.getElementById("tip");
  const hide = () => { tip.hidden = true; };
  const tell = (mark) => {
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const at = mark.getBoundingClientRect();
    const left = at.left + at.width / 2 - tip.offsetWidth / 2;
    tip.style.left = `${Math.max(4, Math.min(left, root.clientWidth - tip.offsetWidth - 4))}px`;
    const above = at.top - tip.offsetHeight - 8;
    tip.style.top = `${above > 4 ? above : Math.min(at.bottom + 8, innerHeight - tip.offsetHeight - 4)}px`;
  };
  for (const chart of all(".chart")) {
    const marks = all(".m", chart);
    for (const mark of marks) {
      const title = mark.querySelector("title");
      mark.dataset.tip = title.textContent;
      title.remove();
    }
    if (marks.length) chart.setAttribute("aria-description", "The arrow keys step through its values.");
    let at = -1;
    const leave = () => {
      for (const mark of marks) mark.classList.remove("at");
      hide();
    };
    chart.addEventListener("pointerover", (event) => {
      const mark = event.target.closest(".m");
      if (mark) tell(mark);
      else hide();
    });
    chart.addEventListener("pointerleave", leave);
    chart.addEventListener("blur", leave);
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") leave();
      if (!step || !marks.length) return;
      event.preventDefault();
      at = Math.max(0, Math.min(at + step, marks.length - 1));
      leave();
      marks[at].classList.add("at");
      marks[at].scrollIntoView({ block: "nearest", inline: "nearest" });
      tell(marks[at]);
    });
  }
  // An arrow key may scroll the page: its tooltip stays and moves along, that of a pointer is hidden.
  addEventListener("scroll", () => {
    const mark = document.querySelector(".m.at");
    if (mark) tell(mark);
    else hide();
  }, { passive: true });

  // A link to something folded opens it; when printed, everything is open.
  const reveal = () => {
    let element = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!element) return;
    const place = element;
    for (; element; element = element.parentElement) if (element.tagName === "DETAILS") element.open = true;
    place.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
  addEventListener("beforeprint", () => {
    for (const folded of all("details")) folded.open = true;
  });
})();
