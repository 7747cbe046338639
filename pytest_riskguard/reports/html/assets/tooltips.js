// Marks of charts: the title becomes a tooltip for pointer and keyboard, and a topic's mark opens its rankings.
const tip = byId("rg-tip");
const hideTip = () => { tip.hidden = true; };
const showTip = (mark) => {
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  const at = mark.getBoundingClientRect();
  const left = at.left + at.width / 2 - tip.offsetWidth / 2;
  tip.style.left = `${Math.max(4, Math.min(left, root.clientWidth - tip.offsetWidth - 4))}px`;
  const above = at.top - tip.offsetHeight - 8;
  tip.style.top = `${above > 4 ? above : Math.min(at.bottom + 8, innerHeight - tip.offsetHeight - 4)}px`;
};
const withTooltips = (chart) => {
  const marks = all(".m", chart).filter((mark) => mark.querySelector("title"));
  for (const mark of marks) {
    const title = mark.querySelector("title");
    mark.dataset.tip = title.textContent;
    title.remove();
  }
  if (!marks.length) return;
  chart.setAttribute("aria-description", "The arrow keys step through its values.");
  let at = -1;
  const leave = () => {
    for (const mark of marks) mark.classList.remove("at");
    hideTip();
  };
  chart.addEventListener("pointerover", (event) => {
    const mark = event.target.closest(".m");
    if (mark?.dataset.tip) showTip(mark);
    else hideTip();
  });
  chart.addEventListener("pointerleave", leave);
  chart.addEventListener("blur", leave);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") leave();
    if (event.key === "Enter" && at >= 0) marks[at].dispatchEvent(new Event("click", { bubbles: true }));
    if (!step) return;
    event.preventDefault();
    at = Math.max(0, Math.min(at + step, marks.length - 1));
    leave();
    marks[at].classList.add("at");
    marks[at].scrollIntoView({ block: "nearest", inline: "nearest" });
    showTip(marks[at]);
  });
};
// An arrow key may scroll the page: its tooltip stays and moves along, that of a pointer is hidden.
addEventListener("scroll", () => {
  const mark = document.querySelector(".m.at");
  if (mark) showTip(mark);
  else hideTip();
}, { passive: true });
