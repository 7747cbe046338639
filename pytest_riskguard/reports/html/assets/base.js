// Everything here is convenience: what stands in the page can be read without it. Text is only ever set as text.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const make = (tag, text, className) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
};
const data = JSON.parse(byId("rg-data").textContent);
const root = document.documentElement;
// A place in other people's sandbox may forbid to keep anything, or to change the address.
const attempt = (action) => {
  try { return action(); } catch { return undefined; }
};

// Light or dark: the system's choice until the reader asks for the other, which is remembered.
{
  const key = "riskguard-theme";
  const kept = attempt(() => localStorage.getItem(key));
  if (kept === "light" || kept === "dark") root.style.colorScheme = kept;
  byId("rg-theme").addEventListener("click", () => {
    const now = root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.style.colorScheme = now === "dark" ? "light" : "dark";
    attempt(() => localStorage.setItem(key, root.style.colorScheme));
  });
}

// Commands are copied; where that is not allowed they are selected, for the reader to copy.
const copied = async (command) => {
  try {
    await navigator.clipboard.writeText(command.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(command);
    return attempt(() => document.execCommand("copy")) === true;
  }
};
document.addEventListener("click", async (event) => {
  const button = event.target.closest(".copy");
  if (!button) return;
  button.textContent = (await copied(button.previousElementSibling)) ? "Copied" : "Press Ctrl+C";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});
