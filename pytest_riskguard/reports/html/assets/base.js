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
// A place in other people's sandbox may forbid to keep anything, or to change the address.
const attempt = (action) => {
  try { return action(); } catch { return undefined; }
};

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
