// What happens in the demonstration by itself: things break in the lab, the collector notices, and the server says so.
// A case with a root cause stays open, one is resolved, a port flaps, and a branch is down during its maintenance.

/** A case, or its end, is there by then. */
const CASE_MS = 180_000;
const LOOK_MS = 1_000;
const MAINTENANCE_S = 4 * 3600;

/** The lab has more links between its switches and routers. */
const LINKS = 60;

const OPEN = { kind: 'box', target: 'access-4' };
const RESOLVED = { kind: 'cable', target: 'access-7:xe-0/2/0' };
const FLAPS = { kind: 'port', target: 'access-9:ge-0/0/3' };
const MAINTAINED = { kind: 'box', target: 'branch-3' };

/**
 * Plays it through the server's API. At a later start of the same data only what is to last breaks again.
 * @param api `(method, path, body) => answer`
 * @param tell says a line to whoever started the demonstration
 */
export async function playStory(api, tell, { first, siteId }) {
  await until('devices that are monitored', async () => {
    const { data } = await api('GET', '/api/summary');
    return data.devices.up > 0 && data.devices.unknown === 0;
  });
  // Without them nobody can say what lies behind what is about to fail.
  await until('the links of the network', async () => {
    const { data } = await api('GET', '/api/topology');
    return data.links.length >= LINKS;
  });
  await breakOnce(api, OPEN);
  await breakOnce(api, FLAPS);
  if (first) await planMaintenance(api, siteId);
  await breakOnce(api, MAINTAINED);
  const open = await until('a case of what is open', () => caseOf(api, 'access-4', '0,1'));
  tell(`case       ${open.number}: ${open.title}`);
  if (!first) return;
  const { id } = await breakOnce(api, RESOLVED);
  await until('a case of what will be resolved', () => caseOf(api, 'access-7', '0,1'));
  await api('DELETE', `/api/lab/faults/${id}`);
  const resolved = await until('the end of that case', () => caseOf(api, 'access-7', '2'));
  tell(`case       ${resolved.number}: ${resolved.title}: resolved`);
}

async function breakOnce(api, fault) {
  const { data } = await api('GET', '/api/lab');
  const same = data.faults.find(({ kind, target }) => kind === fault.kind && target === fault.target);
  return same ?? (await api('POST', '/api/lab/faults', fault)).data;
}

async function planMaintenance(api, siteId) {
  const { data } = await api('GET', '/api/devices?class=router,firewall&pageSize=100');
  // The branch, and the router at the other end of its line.
  const ends = data.filter(({ name }) => ['branch-3', 'edge-2'].includes(name));
  const from = Math.floor(Date.now() / 1000);
  await api('POST', '/api/maintenance', {
    siteId,
    name: 'New line to branch south',
    scope: { deviceIds: ends.map(({ id }) => id) },
    times: { kind: 'once', from, until: from + MAINTENANCE_S },
  });
}

async function caseOf(api, name, status) {
  const { data } = await api('GET', `/api/cases?status=${status}&q=${name}&sort=-createdAt&pageSize=10`);
  return data[0];
}

async function until(what, look) {
  const deadline = Date.now() + CASE_MS;
  while (Date.now() < deadline) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`the demonstration waited ${CASE_MS / 1000} s for ${what}`);
}
