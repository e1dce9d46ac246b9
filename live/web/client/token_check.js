/**
 * Why a service does not let a page in, or lets everybody in. A browser says nothing of a refused
 * websocket, so the same is asked by HTTP.
 */

/** What a page asks with this token, null without one. */
function question(page, token) {
  const url = new URL("api/v1/health", page);
  url.hash = "";
  if (token !== null) url.searchParams.set("token", token);
  return url.href;
}

const given = (page) => new URL(page).searchParams.get("token");

/** `missing` or `wrong` where a token is; `` where it is something else, or nothing. */
export async function tokenTrouble(page, ask) {
  const token = given(page);
  try {
    const { status } = await ask(question(page, token));
    if (status !== 401) return "";
    return token === null ? "missing" : "wrong";
  } catch {
    return "";
  }
}

/** Whether the page has a token that opens nothing: the service looks at none. */
export async function tokenUnused(page, ask) {
  if (given(page) === null) return false;
  try {
    // Nobody has an empty token.
    const { status } = await ask(question(page, ""));
    return status === 200;
  } catch {
    return false;
  }
}
