// Both rankings of a topic, side by side: what stood where, what it is worth, and where it went.
const MAX_RANKS = 50;
const systemName = (name, role) => (name.toLowerCase() === role ? name : `${name} (${role})`);
const gradeChip = (grade, highest) => {
  if (grade === null) {
    const chip = make("span", "?", "grade unjudged");
    chip.title = "unjudged";
    chip.setAttribute("role", "img");
    chip.setAttribute("aria-label", "unjudged");
    return chip;
  }
  const shade = grade <= 0 ? "none" : grade >= highest ? "high" : "some";
  const chip = make("span", String(grade), `grade ${shade}`);
  chip.title = `grade ${grade}`;
  return chip;
};
const movement = (here, there, words) => {
  if (there === null) return words.away;
  return there === here ? "same" : `${words.moved} ${there}`;
};
const rankingLine = (comparison, entry, here, there, words, highest) => {
  const [document_, grade, , , effect] = entry;
  const [id, title, address] = comparison.panels.documents[document_];
  const line = make("li", undefined, grade > 0 ? "relevant" : "");
  const name = make("span", undefined, "name");
  const text = title || id;
  if (address) {
    const link = make("a", text);
    link.href = address;
    link.rel = "noreferrer noopener";
    name.append(link);
  } else name.append(make("span", text));
  if (title) name.append(make("small", id));
  const moved = make("span", movement(here, there, words), "moved");
  if (there === null && grade > 0) moved.classList.add(words.away === "gone" ? "loss" : "win");
  if (effect) {
    const part = make("small", signed(effect, 2));
    part.title = "effect of this document's move on the score";
    moved.append(part);
  }
  const chip = comparison.judged ? gradeChip(grade, highest) : make("span");
  line.append(make("span", String(here), "rank"), chip, name, moved);
  return line;
};
const rankingColumn = (comparison, entries, { heading, here, there, words, depth }) => {
  const column = make("section");
  column.append(make("h5", heading));
  const shown = entries
    .filter((entry) => entry[here] !== null && entry[here] <= depth)
    .sort((a, b) => a[here] - b[here])
    .slice(0, MAX_RANKS);
  if (!shown.length) {
    column.append(make("p", "No results.", "note"));
    return column;
  }
  const highest = Math.max(1, ...entries.map((entry) => entry[1] ?? 0));
  const list = make("ol");
  list.append(...shown.map((entry) => rankingLine(comparison, entry, entry[here], entry[there], words, highest)));
  column.append(list);
  return column;
};
const BEFORE = { away: "gone", moved: "→" };
const AFTER = { away: "new", moved: "was" };
const rankingPanel = (comparison, place) => {
  const [, entries] = comparison.panelOf.get(place);
  const panel = make("div", undefined, "panel");
  const query = comparison.queries[place];
  const heading = make("h4", query ? `“${query}” ` : `${comparison.topics[place]} `);
  const anchor = make("a", "#", "anchor");
  anchor.href = `#${topicAnchor(comparison.anchors[0], comparison.topics[place])}`;
  anchor.setAttribute("aria-label", `link to ${comparison.topics[place]}`);
  heading.append(anchor);
  const share = comparison.share[place];
  const line = make("p", undefined, "quiet");
  const after = make("b", figure("candidate", comparison.candidate[place]));
  after.className = comparison.difference[place] < 0 ? "loss" : "win";
  line.append(`${figure("baseline", comparison.baseline[place])} → `, after, ` ${comparison.measure}`);
  const whole_of = comparison.difference[place] > 0 ? "gain" : "loss";
  if (share !== null && share !== undefined) line.append(` · ${figure("share", share)} of the ${whole_of}`);
  line.append(` · ${comparison.topics[place]}`);
  const pair = make("div", undefined, "pair rankings");
  const depth = comparison.panels.depth;
  const [baseline, candidate] = comparison.systems;
  pair.append(
    rankingColumn(comparison, entries, { heading: systemName(baseline, "baseline"), here: 2, there: 3, words: BEFORE, depth }),
    rankingColumn(comparison, entries, { heading: systemName(candidate, "candidate"), here: 3, there: 2, words: AFTER, depth }),
  );
  panel.append(heading, line, pair);
  return panel;
};
