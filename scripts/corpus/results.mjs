// What the REST API answers about the devices of a site, in the evaluator's form.

/** One line per recording that is a device of its own; the others with the reason why they must be played again. */
export async function readSite(api, siteId, placed) {
  const devices = await api.all(`/api/devices?site=${siteId}`);
  const found = new Map();
  for (const device of devices) for (const address of device.addresses) found.set(address, device);
  const here = new Map(placed.map(({ address, name }) => [address, name]));
  const lines = [];
  const again = [];
  for (const { address, ...recording } of placed) {
    const device = found.get(address);
    const others = device?.addresses.filter((each) => each !== address && here.has(each)) ?? [];
    if (!device) again.push(faulty(recording, 'no device at its address'));
    else if (others.length > 0) again.push({ ...recording, box: device.id, reason: 'taken for one box' });
    else if (!device.reachable.snmp) again.push(faulty(recording, 'its agent did not answer'));
    else {
      const { line, parts } = await lineOf(api, recording.name, device);
      if (parts.length > 0) again.push(faulty(recording, `read in part (${parts.join(', ')})`));
      else lines.push(line);
    }
  }
  return { lines, again };
}

export const faulty = (recording, reason) => ({
  ...recording,
  box: undefined,
  faults: (recording.faults ?? 0) + 1,
  reason,
});

async function lineOf(api, recording, { id }) {
  const [device, interfaces, { facts }] = await Promise.all([
    api.data('GET', `/api/devices/${id}`),
    api.all(`/api/interfaces?deviceId=${id}`),
    api.data('GET', `/api/devices/${id}/explain`),
  ]);
  return {
    parts: facts.filter(({ complete }) => !complete).map(({ group }) => group),
    line: {
      recording,
      vendor: device.vendor,
      model: device.model,
      os: device.os,
      osVersion: device.osVersion,
      serial: device.serialNumber,
      class: device.class,
      sysName: device.sysName,
      sysObjectID: device.sysObjectId,
      interfaces: interfaces.map((each) => ({
        ifIndex: each.ifIndex,
        ifName: each.name,
        ifDescr: each.description,
        ifAlias: each.alias,
        ifType: each.type,
        ifSpeed: each.speedBps,
        ifMtu: each.mtu,
        ifAdminStatus: each.adminStatus,
        ifOperStatus: each.operStatus,
        ifPhysAddress: each.macAddress,
      })),
      ipAddresses: device.addresses,
      // What the far end says of itself, whatever device of the site it was linked with.
      neighbours: device.neighbours.map(({ name, sysName, ...rest }) => ({
        remoteSysName: sysName || name,
        ...rest,
      })),
    },
  };
}
