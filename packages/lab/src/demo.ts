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
