"""Contrast of texts with what lies behind them, measured in the page."""

#: Light comes through a transparent page from black or from white.
_FIND_FAINT = """((root, exempt) => {
  const canvas = new OffscreenCanvas(1, 1);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (color, under) => under.map((value, at) =>
    color[3] * color[at] + (1 - color[3]) * value);
  const linear = (value) => value <= 10
    ? value / 3294.6
    : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const light = ([red, green, blue]) =>
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const ratio = (one, two) => {
    const [low, high] = [light(one), light(two)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (node, page) => {
    if (node === null) return page;
    const own = rgba(getComputedStyle(node).backgroundColor);
    return over(own, behind(node.parentElement, page));
  };
  const faint = [];
  for (const node of document.querySelectorAll(`${root} *`)) {
    const written = [...node.childNodes].some((child) => child.data?.trim());
    if (!written || !node.checkVisibility() || node.closest(exempt)) continue;
    for (const page of [[0, 0, 0], [255, 255, 255]]) {
      const ground = behind(node, page);
      const contrast = ratio(over(rgba(getComputedStyle(node).color), ground), ground);
      const words = `${node.className} ${node.textContent} ${contrast.toFixed(2)}`;
      if (contrast < 4.5) faint.push(words);
    }
  }
  return faint;
})"""


def find_faint_texts(root: str, exempt: str) -> str:
    """Return a script that lists the texts below `root` with less than 4.5 : 1.

    Nothing at or below a node that matches `exempt` counts.
    """
    return f"{_FIND_FAINT}({root!r}, {exempt!r})"
