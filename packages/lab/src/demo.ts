/**
 * The demonstration site: a head office with three branches on 127.20.0.0/16. The third octet is the VLAN: 10
 * management, 20 servers, 40 printers, phones, cameras and power, 50 users.
 */
import { credentials } from './demo/access.ts';
import { boxes } from './demo/boxes.ts';
import { cables } from './demo/cables.ts';
import { stations } from './demo/stations.ts';
import { makeSite, type Site } from './site.ts';

/** The site `demo`, made anew by each call. */
export const demoSite = (): Site =>
  makeSite({
    name: 'demo',
    boxes,
    links: cables(),
    stations: stations(),
    credentials,
    vlanOf: (address) => Number(/^127\.20\.(10|20|40|50)\./.exec(address)?.[1] ?? 1),
  });

/** Half a year: with what boxes are old already it stays below the 497 days after which sysUpTime begins anew. */
const AGES_S = 180 * 86_400;

/**
 * Makes all boxes older as time goes on: at a later start they have been up for longer, and none seems to have rebooted
 * meanwhile.
 * @param now Unix seconds
 */
export function age(site: Site, now: number): Site {
  for (const device of site.devices) device.upBefore += Math.floor(now) % AGES_S;
  return site;
}
