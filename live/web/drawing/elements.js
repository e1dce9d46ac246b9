/** Building the page. Everything a feed says goes in as text, never as markup. */

/** `element("p", "card-note", "text")`, with children after that. */
export function element(tag, className = "", text = "", ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  node.append(...children);
  return node;
}

/** What may be wider than the screen, in a box that scrolls by keys too. */
export function scrollBox(...children) {
  const box = element("div", "scroll", "", ...children);
  box.tabIndex = 0;
  return box;
}

/** Sets text only where it differs, so that screen readers and selections are left in peace. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Loads styles that most pages do without; done once they are there, or cannot be had. */
export function loadStyles(href) {
  const link = Object.assign(element("link"), { rel: "stylesheet", href });
  document.head.append(link);
  return new Promise((done) => (link.onload = link.onerror = done));
}

/** Text of several parts with `·` between them, so that one that has no room can be left out whole. */
export function setParts(node, text) {
  if (node.textContent === text) return;
  node.replaceChildren(...text.split(/(?= \u00b7 )/u).map((part) => element("span", "", part)));
}

/** A name: kept apart from its surroundings, so that right-to-left names do not move them. */
export function nameNode(className) {
  return element("bdi", className);
}
