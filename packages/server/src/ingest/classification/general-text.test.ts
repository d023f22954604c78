/** Words that agents write into sysDescr and into their vendor's objects: which is a version, a model, a serial number. */
import { describe, expect, it } from 'vitest';
import { modelIn, osIn, sampledFields, serialIn, versionIn } from './general-text.ts';

describe('a version', () => {
  it.each([
    ['Ring switch, Software Version 4.2.1, Hardware Version 7', '4.2.1'],
    ['Firmware Version: v1.02.003', 'v1.02.003'],
    ['App ver 3.5 on kernel 2.6', '3.5'],
    ['Switch Version 2.0(1)SE4, built', '2.0(1)SE4'],
    ['FW 7.1.0b2', '7.1.0b2'],
    ['BoxOS 6.48.3 router', '6.48.3'],
    ['BoxOS-v12.1', 'v12.1'],
    ['NOS 4.7', '4.7'],
    ['Release 3.1.0', '3.1.0'],
    ['Rev. 12-0_b', '12-0_b'],
    ['SW_REV: 8.1.0', '8.1.0'],
    ['Linux gate 5.10.0-21-amd64 #1 SMP firmware 2.4.6', '2.4.6'],
    ['Box (v1.2.3) ready', 'v1.2.3'],
    ['Box,v2_0_1)', 'v2_0_1'],
    ['FreeBSD gate 13.1-RELEASE', '13.1-RELEASE'],
    ['FreeBSD gate 9.2-RELEASE FreeBSD 9.2-RELEASE #0 r255898: Thu', '9.2-RELEASE'],
    ['Hardware Model:BX-1, Software version: BoxOS,6.5.2.101', '6.5.2.101'],
    ['Acme ESXi 7.0.0 build-158 Acme, Inc.', '7.0.0'],
    ['HP-UX host B.11.31 U', 'B.11.31'],
    ['SunOS host 5.11', '5.11'],
    ['Darwin mac 20.3.0', '20.3.0'],
    ['Version 7.2(3', '7.2'],
    ['Version 7.2)', '7.2'],
    ['software version 5.0.1;', '5.0.1'],
    ['Version: _4.1_', '4.1'],
  ])('%s: surely %s', (text, version) => {
    expect(versionIn(text)).toEqual({ text: version, sure: true });
  });
  it.each([
    ['of the hardware', 'HW version 3.1.2', '3.1.2'],
    ['of the kernel', 'Linux gate 5.10.0-21-amd64 #1 SMP', '5.10.0-21-amd64'],
    ['of the kernel, before one without a label', 'Linux box 4.4.60 v3.2.1', '4.4.60'],
    ['without a label', 'Box 1.2.3 here', '1.2.3'],
    ['without a label, with a letter', 'Box R.11.30 here', 'R.11.30'],
  ])('%s may be one', (_, text, version) => {
    expect(versionIn(text)).toEqual({ text: version, sure: false });
  });
  it.each([
    ['a date', 'Software 2021-04-07'],
    ['an address in a link', 'Box http://1.2.3.4/'],
    ['an address', 'Box ip 10.0.0.1'],
    ['a model', 'software RB760iGS'],
    ['a word', 'Version rev2'],
    ['that of eCos, which others build on', 'eCos 3.0'],
    ['no number', 'nothing at all'],
  ])('%s is none', (_, text) => {
    expect(versionIn(text)).toBeNull();
  });
});

describe('a model', () => {
  it.each<[string, string, string | null]>([
    ['Hardware Model: XG-500; Version 3', 'XG-500', null],
    ['Product name = "Edge 40", rating 5', 'Edge 40', null],
    ['Software running on a Falcon 900.', 'Falcon 900', null],
    ['sensor model #AB12 here', 'AB12', null],
    ['Acme ZX-10 Gigabit Switch', 'ZX-10', 'Acme'],
    ['Nova QX-7700-48T core', 'QX-7700-48T', 'Acme'],
    ['model: Acme ZX-10', 'ZX-10', 'Acme'],
    ['Cabinet 4500 series', 'Cabinet 4500', 'Acme'],
    ['Room Alert 12E', 'Alert 12E', null],
    ['Room Alert 3', 'Room Alert 3', null],
    ["'Acme Q7x'", 'Q7x', 'Acme'],
    ['Foo [ZX-9]: ok', 'Foo ZX-9', null],
    ['pid WS-C2960 sn FOC1', 'WS-C2960', null],
    ['a4 AX4', 'AX4', null],
    ['Switch AX4', 'AX4', null],
    ['Big Room Alert 3', 'Big Room Alert 3', null],
    ['Box AB12AB12AB12AB12AB12AB12AB12AB12AB12AB12', 'AB12AB12AB12AB12AB12AB12AB12AB12AB12AB12', null],
  ])('%s: surely %s', (text, model, vendor) => {
    expect(modelIn(text, vendor)).toEqual({ text: model, sure: true });
  });
  it.each([
    ['PowerTower', 'PowerTower'],
    ['Cabinet 2019', 'Cabinet 2019'],
    ['C 4500', 'C 4500'],
    ['Q7', 'Q7'],
    ['Big 48 port', 'Big 48 port'],
    ['Blade (R) 120 server', 'Blade'],
    ['Tower - the best v3.1', 'Tower'],
    ['Tower 3.1.2 best', 'Tower'],
    ['Very Big Room Alert 3', 'Very Big Room Alert 3'],
  ])('%s: perhaps %s', (text, model) => {
    expect(modelIn(text, null)).toEqual({ text: model, sure: false });
  });
  it.each([
    ['nothing', ''],
    ['a kernel', 'Linux gate XZ-510'],
    ['a processor', 'x86 Family 6 Model 9'],
    ['a maker', 'Acme'],
    ['a maker with a sentence', 'Acme, something else'],
    ['a kind', 'Wireless Bridge'],
    ['an address of a person', 'user@host'],
    ['a sentence', 'Some Very Long Description Of A Thing That Is Not'],
    ['too many words', 'one two big four more six seven'],
    ['a word that stands too far behind', 'a b c d e f g h i j k l m n o XB-77'],
    ['software', 'A Software Thing'],
    ['a version', 'Version 2.1'],
    ['the number of a release', 'Release 4500'],
    ['a MAC address', '00:11:22:33:44:55 box'],
    ['a single digit behind a label', 'MODEL=7'],
    ['a word of more than 40 letters', `Box A1${'x'.repeat(39)}`],
  ])('%s is none', (_, text) => {
    expect(modelIn(text, 'Acme')).toBeNull();
  });
  it('is no speed, port count, standard or version', () => {
    for (const word of ['10GBase-T', '100BaseTX', '8-port', '48V', '802.1Q', 'x86_64', 'IPv6', 'eth0', '2U'])
      expect(modelIn(`${word} tower, and so on`, null)?.text).not.toBe(word);
  });
});

it.each([
  ['S/N: AB12345', 'AB12345'],
  ['Serial Number: 1234-5678', '1234-5678'],
  ['serial no. is X99ZZ1', 'X99ZZ1'],
  ['serial_num=00-11-22', '00-11-22'],
  ['Serial# 77881122 rev', '77881122'],
  ['SN ABCDEFG', null],
  ['sn A1', null],
  ['desn 123456', null],
])('a serial number in %s: %s', (text, serial) => {
  expect(serialIn(text)).toBe(serial);
});

it.each([
  ['runs BoxOS 4', 'BoxOS'],
  ['runs iOS 4', 'iOS'],
  ['EdgeOS-XE 1', 'EdgeOS-XE'],
  ['BoxOS-B-9.0 both', 'BoxOS'],
  ['Acme Fabric OS 5', 'Fabric OS'],
  ['the Fabric Guard OS 5', 'Fabric Guard OS'],
  ['Acme BOS XR Software', 'BOS XR'],
  ['Acme BX-OS(tm) b5000', 'BX-OS'],
  ['Box, SAX Operating System Version 20', 'SAX OS'],
  ['Acme Networks Real Time Operating System Software', null],
  ['Acme Boxware Platform Software, Version 7', 'Boxware'],
  ['Box 24, BronzeWare Version 08.0', 'BronzeWare'],
  ['Box SoftWare Version 7.0', null],
  ['Heron Linux 4.4 (Linux Kernel 4.19)', 'Heron Linux'],
  ['Hardware: AMD64 - Software: Windows Version 6.3', 'Windows'],
  ['OX2216 Linux 5', null],
  ['for Windows', null],
  ['NetBSD host 7.1 (GENERIC) amd64', 'NetBSD'],
  ['Acme ESXi 7.0.0 build-158', 'ESXi'],
  ['Fabric OS', 'Fabric OS'],
  ['eCOS', null],
  ['Os', null],
])('an operating system in %s: %s', (text, os) => {
  expect(osIn(text, 'Acme')).toBe(os);
});

describe('objects of a vendor', () => {
  const ENTERPRISE = 99_999;
  /** Texts in the order of their OIDs, the first at object 1. */
  const read = (
    texts: string[],
    { descr = '', name = '', from = 1, of = ENTERPRISE as number | null } = {},
  ) =>
    sampledFields(
      Object.fromEntries(texts.map((text, i) => [`1.3.6.1.4.1.${ENTERPRISE}.${from + i}.0`, text])),
      of,
      descr,
      name,
    );
  const others = Array.from({ length: 12 }, (_, i) => `word ${'abcdefghijkl'[i]} only`);

  it('are read in the order of their numbers, not of their digits', () => {
    const facts = { '1.3.6.1.4.1.99999.10.0': 'ZX-200', '1.3.6.1.4.1.99999.9.0': 'ZX-100' };
    expect(sampledFields(facts, ENTERPRISE, '', '').model?.text).toBe('ZX-100');
  });
  it('of another enterprise say nothing, unless the agent has none', () => {
    expect(read(['ZX-100'], { of: 4242 }).model).toBeNull();
    expect(read(['ZX-100'], { of: null }).model).toEqual({ text: 'ZX-100', sure: true });
  });
  it('that repeat sysName say nothing', () => {
    expect(read(['ZX-100'], { name: 'ZX-100' }).model).toBeNull();
  });
  it('count more where sysDescr has the same word', () => {
    expect(read(['ZX-100', 'ZX-200'], { descr: 'Box zx-200' }).model?.text).toBe('ZX-200');
    expect(read(['BigTower', 'House'], { descr: 'a house of stone' }).model).toEqual({
      text: 'House',
      sure: true,
    });
  });

  it.each<[string, string, boolean]>([
    ['ZX-100', 'ZX-100', true],
    ['Big Tower 9', 'Big Tower 9', true],
    ['Tower', 'Tower', false],
  ])('model %s', (text, model, sure) => {
    expect(read([text]).model).toEqual({ text: model, sure });
  });
  it.each([
    'ab',
    'Fan 3',
    '12 V',
    'GigabitEthernet1/0/1 up',
    'http://x1',
    'AB:12',
    '50%',
    'one two three four 5',
    '4 Tower',
    'eth0',
    '2021-04-07',
    '00:11:22:33:44:55',
    '0x0102',
    'AB12345678',
    'v1.2.3',
    `Tower ${'1'.repeat(40)}`,
  ])('no model: %s', (text) => {
    expect(read([text]).model).toBeNull();
  });
  it('a word without a number is the model only among the first three', () => {
    expect(read(['so', 'Tower']).model?.text).toBe('Tower');
    expect(read(['12 V', '13 V', 'Tower']).model).toEqual({ text: 'Tower', sure: false });
    expect(read(['12 V', '13 V', '14 V', 'Tower']).model).toBeNull();
  });
  it('a word without a number has four letters', () => {
    expect(read(['Edge']).model).toEqual({ text: 'Edge', sure: false });
    expect(read(['box']).model).toBeNull();
  });
  it('two words with a number count less behind the first twelve', () => {
    expect(read([...others, 'Big Tower 9']).model).toEqual({ text: 'Big Tower 9', sure: false });
    expect(read([...others, 'ZX-100']).model).toEqual({ text: 'ZX-100', sure: true });
  });

  it.each<[string, string]>([
    ['1.2.3', '1.2.3'],
    ['v1.2.3-b4', 'v1.2.3-b4'],
    ['Version v2.1', 'Version v2.1'],
    ['fw: v2_1', 'fw: v2_1'],
    ['V200R003C01', 'V200R003C01'],
    ['Some thing that is v3.2.1 here', '3.2.1'],
    ['boot-v1.2', 'boot-v1.2'],
    ['build 77', 'build 77'],
    ['tower-1.2.3', 'tower-1.2.3'],
    ['fw is v3.2.1', 'fw is v3.2.1'],
    [`1.2.3 ${'x'.repeat(54)}`, `1.2.3 ${'x'.repeat(54)}`],
  ])('version %s', (text, version) => {
    expect(read([text]).version).toEqual({ text: version, sure: true });
  });
  it('two numbers are perhaps a version, among the first six', () => {
    expect(read(['1.22']).version).toEqual({ text: '1.22', sure: false });
    expect(read([...others.slice(0, 6), '1.22']).version).toBeNull();
  });
  it.each([
    '12.5 V',
    '3.2.1 dBm',
    'a@1.2.3',
    '/usr/1.2.3',
    `1.2.3 ${'x'.repeat(60)}`,
    'Tower',
    '10.0.0.1',
    '2021.04.07',
  ])('no version: %s', (text) => {
    expect(read([text]).version).toBeNull();
  });
  it('a long text that is nearly a version takes no time', () => {
    // An expression that tries every division of the letters takes minutes.
    expect(read([`1.2.3 ${'a'.repeat(30)}!`]).version).toBeNull();
  });
  it('the clearest version counts, of equal ones the first', () => {
    expect(read(['V200R003C01', '1.2.3']).version?.text).toBe('V200R003C01');

    expect(read(['boot-v1.2', '4.5.6', '7.8.9']).version?.text).toBe('4.5.6');
    expect(read([...others, 'v1.2.3', 'build 7']).version?.text).toBe('v1.2.3');
  });

  it.each(['AB12345678', '12345678', 'AB12345', 'FOC1234X5', '123/45678', 'AB-123456'])(
    'serial number %s',
    (text) => {
      expect(read([text]).serial).toBe(text);
    },
  );
  it.each([
    'AB123',
    'AB1234',
    '1234567',
    'ABCDEFG1',
    'ABCDEFG12345',
    '11111111',
    'V200R003C01',
    'AB 123456',
    '00-11-22-33-44-55',
    `A${'1'.repeat(24)}`,
  ])('no serial number: %s', (text) => {
    expect(read([text]).serial).toBeNull();
  });
  it('a serial number is not what sysDescr says, nor begins as that does', () => {
    expect(read(['AB12345678'], { descr: 'Box AB12345678' }).serial).toBeNull();
    expect(read(['ZX50-12345'], { descr: 'Box zx50' }).serial).toBeNull();
    expect(read(['ZX5012345'], { descr: 'Box zx50' }).serial).toBe('ZX5012345');
  });
  it('one in a word counts more than one with strokes, of equal ones the first', () => {
    expect(read(['AB-123456', 'AB12345678', 'CD12345678']).serial).toBe('AB12345678');
    expect(read(['AB-123456', 'CD-123456']).serial).toBe('AB-123456');
  });
});
