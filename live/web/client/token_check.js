/**
 * Why a service does not let a page in. A browser says nothing of a refused websocket, so the same
 * is asked by HTTP.
 */

/** `missing` or `wrong` where a token is; `` where it is something else, or nothing. */
export async function tokenTrouble(page, ask) {
  const url = new URL("api/v1/health", page);
  url.hash = "";
  const token = new URL(page).searchParams.get("token");
  if (token !== null) url.searchParams.set("token", token);
  try {
    const { status } = await ask(url.href);
    if (status !== 401) return "";
    return token === null ? "missing" : "wrong";
  } catch {
    return "";
  }
}
