/** Whether a page is static, and which broker it then reads. */

/** The broker that a page names, `{url, prefix}`; null where it reads from the service itself. */
export function brokerOf(document) {
  const meta = document.querySelector('meta[name="live-rate-broker"]');
  return meta === null ? null : { url: meta.content, prefix: meta.dataset.prefix };
}
