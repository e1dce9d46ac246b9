/**
 * uPlot from its smallest build, half the size of the one that is a module: pages are to be small.
 * That build is a plain script, which leaves its name behind. Where there is no page (tests of what
 * is pure in the modules that draw) there is nothing to load it.
 */

if (globalThis.document) {
  const script = document.createElement("script");
  script.src = new URL("../vendor/uplot/uPlot.iife.min.js", import.meta.url).href;
  await new Promise((done, failed) => {
    script.onload = done;
    script.onerror = () => failed(new Error(`${script.src} does not load`));
    document.head.append(script);
  });
  script.remove();
}

export default globalThis.uPlot;
