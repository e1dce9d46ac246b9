/** Animations of changes; none if the operating system is set to reduce motion. */

import { setText } from "./elements.js";

const COUNT_MS = 400;
const FLASH_MS = 600;
const SLIDE_MS = 250;

const moves = globalThis.matchMedia?.("(prefers-reduced-motion: no-preference)") ?? { matches: false };

/** For each node whose number is counting: the final text, and the current animation frame. */
const counting = new WeakMap();
const NUMBER = /\d{3,}/;

/** Write a figure such as `2340` or `3200+`, counting up or down from the number that the node shows. */
export function countTo(node, text) {
  const aim = counting.get(node);
  if ((aim?.text ?? node.textContent) === text) return;
  if (aim) cancelAnimationFrame(aim.frame);
  counting.delete(node);
  const from = Number(NUMBER.exec(node.textContent)?.[0]);
  const to = Number(NUMBER.exec(text)?.[0]);
  if (!moves.matches || document.hidden || !node.isConnected || !from || !to || from === to) return setText(node, text);
  const begun = performance.now();
  const step = (now) => {
    const share = Math.min(1, Math.max(0, now - begun) / COUNT_MS);
    setText(node, share === 1 ? text : text.replace(NUMBER, String(Math.round(from + (to - from) * share))));
    if (share === 1) counting.delete(node);
    else counting.set(node, { text, frame: requestAnimationFrame(step) });
  };
  counting.set(node, { text, frame: requestAnimationFrame(step) });
}

/** Flash the background of a node, in another colour for a loss. */
export function flash(node, isLoss) {
  if (!moves.matches) return;
  for (const animation of node.getAnimations()) animation.cancel();
  const color = getComputedStyle(node).getPropertyValue(isLoss ? "--flash-loss" : "--flash");
  node.animate({ backgroundColor: [color, "transparent"] }, { duration: FLASH_MS });
}

/** Call `change`, which moves children of `parent`, and animate it: old children slide to their places, new ones rise. */
export function slide(parent, change) {
  if (!moves.matches || document.hidden) return change();
  const before = new Map([...parent.children].map((node) => [node, node.getBoundingClientRect()]));
  change();
  for (const node of parent.children) {
    const [from, to] = [before.get(node), node.getBoundingClientRect()];
    const [x, y] = from ? [from.left - to.left, from.top - to.top] : [0, 8];
    if (x === 0 && y === 0) continue;
    const begin = { translate: `${x}px ${y}px`, opacity: from ? 1 : 0 };
    node.animate([begin, { translate: "0px 0px", opacity: 1 }], { duration: SLIDE_MS, easing: "ease-out" });
  }
}
