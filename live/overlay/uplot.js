/**
 * uPlot from its smallest build, half the size of the one that is a module: an overlay is to be
 * small. That build is a plain script, which leaves its name behind.
 */

const script = document.createElement("script");
script.src = new URL("./vendor/uplot/uPlot.iife.min.js", import.meta.url).href;
await new Promise((done, failed) => {
  script.onload = done;
  script.onerror = () => failed(new Error(`${script.src} does not load`));
  document.head.append(script);
});
script.remove();

export default globalThis.uPlot;
