// The REST API as its first administrator uses it.

/** `ask` answers the whole body, `data` its data, `all` the rows of every page of a list. Throws what the API refuses. */
export async function connect({ url, firstAdmin: { name, password } }) {
  const signIn = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: url },
    body: JSON.stringify({ name, password }),
  });
  if (!signIn.ok) throw new Error(`sign-in failed: ${await signIn.text()}`);
  const cookie = signIn.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const ask = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'Content-Type': 'application/json', Origin: url, Cookie: cookie },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = await response.json();
    if (!answer.success) throw new Error(`${method} ${path}: ${answer.error?.message ?? response.status}`);
    return answer;
  };
  const data = async (...question) => (await ask(...question)).data;
  const all = async (path) => {
    const rows = [];
    for (let page = 1; ; page++) {
      const answer = await ask('GET', `${path}&pageSize=1000&page=${page}`);
      rows.push(...answer.data);
      if (answer.data.length === 0 || rows.length >= answer.totalCount) return rows;
    }
  };
  return { url, ask, data, all };
}
