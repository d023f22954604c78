/**
 * How each operation is called in the authorisation matrix, and what a caller with the role but without the site gets.
 * Who may call at all follows from the table's `access`. An operation without a row does not compile, and fails the test.
 */
import type { OperationId } from '@rollcall/shared/api/index';
import { ALPHA_NETWORK, CANARY, PASSWORD, type Person, type World } from './world.ts';

export interface Row {
  /** Value of the path's parameter. */
  param?: (world: World, caller: Person) => string;
  query?: (world: World) => string;
  body?: (world: World, caller: Person) => unknown;
  /** A working call answers this instead of the operation's own status. */
  success?: number;
  /**
   * With the role, without site Alpha. `same`: it is not about sites. `nothing`: it works, and tells nothing of Alpha.
   * A status: refused with it.
   */
  outside: 'same' | 'nothing' | 403 | 404;
  /** Where it is `nothing`: what of Alpha a caller with the site reads; the canary where absent. */
  tells?: string;
  /** With the role and site Alpha, but not every site; as a success where absent. */
  inside?: 403 | 404;
  /** Whoever asks, because the server under test has none. */
  everybody?: 404;
}

const NEW_PASSWORD = 'staple battery horse correct';
const on = (thing: keyof World['id']) => (world: World) => world.id[thing];
const alpha = (world: World) => world.site.alpha;
let names = 0;
/** Names must be new at each call. */
const fresh = (word: string) => `${word}-${++names}`;
const scan = (world: World) => ({ targets: '10.77.0.0/30', profile: 'ping', site: alpha(world) });

export const rows = {
  'session.create': {
    body: () => ({ name: 'viewer-all', password: PASSWORD }),
    outside: 'same',
  },
  'session.ways': { outside: 'same' },
  // The server under test knows no provider.
  'session.oidc': { outside: 'same', everybody: 404 },
  'session.callback': { outside: 'same', everybody: 404 },
  'session.get': { outside: 'same' },
  'session.update': { body: () => ({ displayName: 'Me' }), outside: 'same' },
  'session.delete': { outside: 'same' },
  'session.password': { body: () => ({ current: PASSWORD, next: NEW_PASSWORD }), outside: 'same' },
  'secondFactor.begin': { body: () => ({ password: PASSWORD }), outside: 'same' },
  // Nobody there has one.
  'secondFactor.confirm': { body: () => ({ code: '000000' }), success: 409, outside: 'same' },
  'secondFactor.remove': { body: () => ({ code: '000000' }), success: 409, outside: 'same' },
  'sessions.list': { outside: 'same' },
  'sessions.delete': { param: (_, caller) => caller.sessionId, outside: 'same' },
  'tokens.list': { outside: 'same' },
  'tokens.create': { body: () => ({ name: 'another' }), outside: 'same' },
  'tokens.delete': { param: (_, caller) => caller.tokenId, outside: 'same' },

  'users.list': { outside: 'nothing' },
  'users.get': { param: on('user'), outside: 404 },
  'users.create': {
    body: (world) => ({ name: fresh('user'), password: PASSWORD, role: 'viewer', siteIds: [alpha(world)] }),
    outside: 403,
  },
  'users.update': { param: on('user'), body: () => ({ role: 'operator' }), outside: 404 },
  'users.delete': { param: on('user'), outside: 404 },
  'users.resetSecondFactor': { param: on('user'), outside: 404 },
  'assignees.list': { outside: 'nothing' },
  'audit.list': { outside: 'nothing' },

  'sites.list': { outside: 'nothing' },
  'sites.get': { param: alpha, outside: 404 },
  'sites.create': { body: () => ({ name: fresh('site') }), outside: 403, inside: 403 },
  'sites.update': { param: alpha, body: () => ({ name: `renamed ${CANARY}` }), outside: 404 },
  'sites.delete': { param: alpha, success: 409, outside: 404 },

  'joinTokens.list': { outside: 'nothing' },
  'joinTokens.create': { body: (world) => ({ siteId: alpha(world) }), outside: 403 },
  'joinTokens.delete': { param: on('joinToken'), outside: 404 },
  // Not installed from its package: it has none to hand out.
  'collectors.installer': { outside: 'same', everybody: 404 },
  'collectors.package': { param: () => 'none.deb', outside: 'same', everybody: 404 },
  'collectors.join': {
    body: (world) => ({
      token: world.joinToken,
      hostname: 'probe.example.net',
      publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
    }),
    outside: 'same',
  },
  'lab.get': { outside: 'same' },
  // Only the demonstration has one.
  'lab.break': { body: () => ({ kind: 'box', target: 'access-5' }), outside: 'same', success: 404 },
  'lab.repair': { param: () => '019aa3c4-5b00-7000-8000-000000000001', outside: 'same', success: 404 },

  'collectors.list': { outside: 'nothing' },
  'collectors.get': { param: on('collector'), outside: 404 },
  'collectors.update': { param: on('collector'), body: () => ({ name: fresh('collector') }), outside: 404 },
  'collectors.revoke': { param: on('collector'), outside: 404 },
  // It makes its new key itself, and it is not online.
  'collectors.rotate': { param: on('collector'), success: 409, outside: 404 },
  'collectors.release': { param: on('quarantined'), outside: 404 },
  'collectors.delete': { param: on('revoked'), outside: 404 },
  'credentials.list': { outside: 'nothing' },
  'credentials.get': { param: on('credential'), outside: 404 },
  'credentials.create': {
    body: (world) => ({ name: fresh('community'), version: 'v2c', community: 'c', siteIds: [alpha(world)] }),
    outside: 403,
  },
  'credentials.update': { param: on('credential'), body: () => ({ community: 'other' }), outside: 404 },
  'credentials.delete': { param: on('credential'), outside: 404 },
  'deadLetters.list': { outside: 'nothing' },
  'gaps.list': { outside: 'nothing' },

  'scans.create': { body: scan, outside: 403 },
  'scans.plan': { body: scan, outside: 403 },
  'scans.list': { outside: 'nothing' },
  'scans.get': { param: on('scan'), outside: 404 },
  'scans.cancel': { param: on('scan'), outside: 404 },
  'scans.addresses': { param: on('scan'), outside: 404 },
  'profiles.list': { outside: 'same' },
  'profiles.get': { param: on('profile'), outside: 'same' },
  'profiles.create': { body: () => ({ name: fresh('profile'), settings: {} }), outside: 403, inside: 403 },
  'profiles.update': {
    param: on('profile'),
    body: () => ({ name: fresh('profile') }),
    outside: 403,
    inside: 403,
  },
  'profiles.delete': { param: on('profile'), outside: 403, inside: 403 },
  'schedules.list': { outside: 'nothing' },
  'schedules.get': { param: on('schedule'), outside: 404 },
  'schedules.create': {
    body: (world) => ({ ...scan(world), name: fresh('schedule'), cron: '0 2 * * *' }),
    outside: 403,
  },
  'schedules.update': { param: on('schedule'), body: () => ({ enabled: false }), outside: 404 },
  'schedules.delete': { param: on('schedule'), outside: 404 },

  'devices.list': { outside: 'nothing' },
  'devices.get': { param: on('device'), outside: 404 },
  'devices.update': { param: on('device'), body: () => ({ monitor: 1 }), outside: 404 },
  'devices.delete': { param: on('device'), outside: 404 },
  'devices.bulk': {
    body: () => ({ filter: { Address: ALPHA_NETWORK }, set: { monitor: 1 } }),
    outside: 'nothing',
  },
  'devices.create': {
    body: (world) => ({ site: alpha(world), address: `10.77.9.${++names % 250}` }),
    outside: 403,
  },
  // A row of a site without access is an error of the row.
  'devices.import': {
    body: (world) => ({ csv: `site,address\n${alpha(world)},10.77.8.${++names % 250}` }),
    outside: 'nothing',
  },
  'devices.merge': {
    param: on('device'),
    body: (world) => ({ deviceId: world.id.otherDevice }),
    outside: 404,
  },
  'devices.split': { param: on('device'), body: () => ({ addresses: ['10.77.0.11'] }), outside: 404 },
  'devices.history': { param: on('device'), outside: 404 },
  'devices.explain': { param: on('device'), outside: 404 },
  'devices.vlans': { param: on('device'), outside: 404 },
  'devices.vrfs': { param: on('device'), outside: 404 },
  'devices.arp': { param: on('device'), outside: 404 },
  'fields.list': { outside: 'same' },
  'fields.get': { param: on('field'), outside: 'same' },
  'fields.create': {
    body: () => ({ appliesTo: 'device', name: fresh('field'), type: 'text' }),
    outside: 403,
    inside: 403,
  },
  'fields.update': { param: on('field'), body: () => ({ choices: ['gold'] }), outside: 403, inside: 403 },
  'fields.delete': { param: on('field'), outside: 403, inside: 403 },
  'interfaces.update': { param: on('interface'), body: () => ({ note: 'moved' }), outside: 404 },
  'interfaces.bulk': {
    body: (world) => ({ filter: { deviceId: world.id.device }, set: { addTags: ['moved'] } }),
    outside: 404,
  },
  'interfaces.list': { query: (world) => `deviceId=${world.id.device}`, outside: 404 },
  'interfaces.free': { outside: 'nothing' },
  'topology.get': { outside: 'nothing' },
  'endpoints.list': { outside: 'nothing' },
  'endpoints.get': { param: () => '00:1b:54:00:00:01', outside: 404 },
  'search.get': { query: () => 'q=core', outside: 'nothing' },
  'interfaces.endpoints': { param: on('interface'), outside: 404 },
  'export.prometheus': { outside: 'nothing' },
  'export.ansible': { outside: 'nothing' },
  'export.oxidized': { outside: 'nothing' },
  'export.netbox': { outside: 'nothing' },
  'measurements.get': { query: (world) => `deviceId=${world.id.device}&metrics=rtt,in`, outside: 404 },
  'measurements.file': { query: (world) => `deviceId=${world.id.device}&metrics=rtt,in`, outside: 404 },
  'sensors.list': { query: (world) => `deviceId=${world.id.device}`, outside: 'nothing' },
  'devices.thresholds': { param: on('device'), outside: 404 },
  'devices.setThresholds': { param: on('device'), body: () => ({ loss: 50 }), outside: 404 },
  'devices.clearThresholds': { param: on('device'), outside: 404 },
  'interfaces.thresholds': { param: on('interface'), outside: 404 },
  'interfaces.setThresholds': { param: on('interface'), body: () => ({ errors: 5 }), outside: 404 },
  'interfaces.clearThresholds': { param: on('interface'), outside: 404 },
  'measurements.current': { outside: 'nothing', tells: 'rollcall_device_rtt_seconds{' },
  'measurements.top': { query: () => 'metric=rtt', outside: 'nothing' },
  'availability.list': { query: (world) => `of=devices&deviceId=${world.id.device}`, outside: 404 },
  'availability.spans': { query: (world) => `deviceId=${world.id.device}`, outside: 404 },

  'events.list': { outside: 'nothing' },
  'changes.list': { outside: 'nothing' },
  'changes.counts': { outside: 'nothing', tells: 'device.upgraded' },
  'events.get': { param: on('event'), outside: 404 },
  'events.chart': { param: on('event'), outside: 404 },
  'events.acknowledge': { param: on('event'), outside: 404 },
  'events.close': { param: on('event'), outside: 404 },
  'cases.list': { outside: 'nothing' },
  'cases.get': { param: on('case'), outside: 404 },
  'cases.changes': { param: on('case'), outside: 404 },
  'cases.create': { body: (world) => ({ siteId: alpha(world), title: 'Printers' }), outside: 403 },
  'cases.update': { param: on('case'), body: () => ({ status: 1 }), outside: 404 },
  'cases.comment': { param: on('case'), body: () => ({ text: 'hello' }), outside: 404 },
  'cases.addEvents': {
    param: on('case'),
    body: (world) => ({ eventIds: [world.id.otherEvent] }),
    outside: 404,
  },
  'cases.merge': { param: on('case'), body: (world) => ({ caseId: world.id.otherCase }), outside: 404 },
  'cases.split': {
    param: on('case'),
    body: (world) => ({ eventIds: [world.id.event], title: 'Apart' }),
    outside: 404,
  },
  'maintenance.list': { outside: 'nothing' },
  'maintenance.get': { param: on('maintenance'), outside: 404 },
  'maintenance.create': {
    body: (world) => ({
      siteId: alpha(world),
      name: fresh('window'),
      times: { kind: 'repeat', cron: '0 2 * * 0', minutes: 60 },
    }),
    outside: 403,
  },
  'maintenance.update': { param: on('maintenance'), body: () => ({ enabled: false }), outside: 404 },
  'maintenance.delete': { param: on('maintenance'), outside: 404 },

  'subscriptions.list': { outside: 'nothing' },
  'subscriptions.get': { param: on('subscription'), outside: 404 },
  'subscriptions.create': {
    body: (world) => ({
      kind: 'webhook',
      name: fresh('hook'),
      url: 'https://hook.example.net/',
      siteIds: [alpha(world)],
    }),
    outside: 403,
  },
  'subscriptions.preview': {
    body: () => ({ kind: 'webhook', name: 'a draft', url: 'https://hook.example.net/' }),
    outside: 'same',
  },
  'subscriptions.update': { param: on('subscription'), body: () => ({ severity: 2 }), outside: 404 },
  'subscriptions.delete': { param: on('subscription'), outside: 404 },
  // It has no secret that this server could open: it is about mail.
  'subscriptions.rotate': { param: on('subscription'), success: 409, outside: 404 },
  'subscriptions.revokeLinks': { param: on('subscription'), outside: 404 },
  'subscriptions.test': { param: on('subscription'), outside: 404 },
  'deliveries.list': { outside: 'nothing' },
  'deliveries.get': { param: on('delivery'), outside: 404 },
  'deliveries.resend': { param: on('delivery'), outside: 404 },
  // Nobody made it.
  'caseLinks.read': { body: () => ({ link: 'A'.repeat(90) }), outside: 'same', everybody: 404 },
  'caseLinks.acknowledge': { body: () => ({ link: 'A'.repeat(90) }), outside: 'same', everybody: 404 },
  'mail.get': { outside: 403, inside: 403 },
  'mail.update': {
    body: () => ({ host: '', from: 'rollcall@example.net' }),
    outside: 403,
    inside: 403,
  },

  'openapi.get': { outside: 'same' },
  'docs.get': { outside: 'same' },
  'docs.file': { param: () => 'start.js', outside: 'same' },
  'licenses.get': { outside: 'same', everybody: 404 },
  'health.live': { outside: 'same' },
  'health.ready': { outside: 'same' },
  'metrics.get': { outside: 403, inside: 403 },
  'summary.get': { outside: 'nothing' },
  'stream.open': { outside: 'same' },
} satisfies Record<OperationId, Row>;
