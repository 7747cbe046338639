// Figures as the page writes them, what a search finds, and tables as CSV.
const DECIMALS = { baseline: 4, candidate: 4, difference: 4, contribution: 5, standardised: 2 };
const ofTen = (value) => {
  const [number, power] = value.toExponential(1).split("e");
  return `${number}e${power[0]}${power.slice(1).padStart(2, "0")}`;
};
// A tie goes to the even digit, and zero has no sign: the page without scripts and the other reports round so.
const TIE = 31;
const fixed = (value, digits) => {
  const exact = value.toFixed(digits + TIE);
  const text = /[02468]50{30}$/.test(exact) ? exact.slice(0, -TIE) : value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
};
const plain = (value, digits) => (Math.abs(value) >= 1e9 ? ofTen(value) : fixed(value, digits));
const signed = (value, digits) => {
  const tiny = value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits;
  const text = tiny ? ofTen(value) : plain(value, digits);
  return value >= 0 ? `+${text}` : text;
};
const figure = (column, value) => {
  if (value === null || value === undefined) return "";
  if (column === "share") return `${fixed(100 * value, 1)}%`;
  if (column === "baseline" || column === "candidate") return plain(value, DECIMALS[column]);
  return signed(value, DECIMALS[column]);
};
const counted = (count, of, what) => (count === of ? "" : `${count} of `) + (of === 1 ? `1 ${what}` : `${of} ${what}s`);
const topicAnchor = (gate, topic) => `${gate}/${encodeURIComponent(topic)}`;

// Words, all of which must occur; `tag=value` asks for the tag where one of this name is known. Quotes keep blanks.
const searchOf = (text, comparison) => {
  const names = new Set(comparison.known_tags.map(([tag]) => tag.toLowerCase()));
  const words = (text.toLowerCase().match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map((word) => word.replaceAll('"', ""));
  const exact = new Set(comparison.known_tags.map((tag) => tag.join("=").toLowerCase()));
  if (exact.has(text.trim().toLowerCase())) return { tags: [text.trim().toLowerCase()], words: [] };
  const isTag = (word) => word.includes("=") && names.has(word.slice(0, word.indexOf("=")));
  return { tags: words.filter(isTag), words: words.filter((word) => !isTag(word)) };
};
const tagsOf = (comparison, place) => (comparison.tags[place] ?? []).map((tag) => comparison.known_tags[tag].join("="));

const COLUMNS = ["baseline", "candidate", "difference"];
const OF_GATE = ["share", "contribution", "standardised", "marks"];
// A spreadsheet computes what begins with one of these.
const FORMULA = /^[\s\uFEFF]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%]/;
const csvText = (text) => `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
const csvOf = (comparison, places) => {
  const names = [...new Set(comparison.known_tags.map(([tag]) => tag))];
  const lines = [["topic", "query", ...names, ...COLUMNS, ...OF_GATE].map(csvText).join(",")];
  for (const place of places) {
    const tags = new Map((comparison.tags[place] ?? []).map((tag) => comparison.known_tags[tag]));
    const cells = [comparison.topics[place], comparison.queries[place] ?? "", ...names.map((name) => tags.get(name) ?? "")];
    const numbers = [...COLUMNS.map((name) => comparison[name][place]), ...OF_GATE.slice(0, 3).map((name) => comparison[name][place])];
    lines.push([...cells.map(csvText), ...numbers.map((value) => value ?? ""), csvText(comparison.marks[place])].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
};
const download = (name, text) => {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob(["\uFEFF", text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};
