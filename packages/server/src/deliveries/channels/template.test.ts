import { describe, expect, it } from 'vitest';
import { sampleCase } from './sample.ts';
import { render } from './template.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const made = (template: string, json = false, strict = true) =>
  render(template, sampleCase(NOW, 'https://rollcall.example.net'), { json, strict });

describe('a body from a template', () => {
  it('says what a notice says, with words for numbers', () => {
    const body = made(
      '{"text": {{ summary | json }}, "how": "{{ severity }}, {{ status }}", "at": "{{ timestamp | date: "%H:%M" }}",' +
        ' "events": [{% for event in data.events %}{{ event.message | json }}{% unless forloop.last %},{% endunless %}{% endfor %}]}',
      true,
    );
    expect(JSON.parse(body)).toEqual({
      text: '[Berlin] #1042 opened: core-1 "Hall <2>" does not answer (major)',
      how: 'major, open',
      at: '12:00',
      events: ['core-1 "Hall <2>" does not answer', 'Gi1/0/1 of edge-7 is down:\nno carrier'],
    });
  });

  it.each([
    ['what is not closed, with its place', 'line one\n{% if data %}', /not closed, line:2, col:1/],
    [
      'a name that means nothing',
      '{{ data.case.titel }}',
      /undefined variable: data\.case\.titel, line:1, col:4/,
    ],
    ['a filter that there is not', '{{ summary | shout }}', /undefined filter: shout, line:1/],
    ['what is no JSON, with the remedy', '{"text": "{{ data.case.title }}"}', /makes no JSON .*\| json/],
    [
      'what is longer than a body may be',
      `${'{% for i in (1..200) %}'.padEnd(400, 'x')}{% endfor %}`,
      /more than 64 KiB/,
    ],
  ])('refuses %s', (_, template, message) => {
    expect(() => made(template, true)).toThrow(message);
  });

  it('has room for all that a notice can say', () => {
    const [event = expect.fail()] = sampleCase(NOW).data.events;
    const full = sampleCase(NOW);
    full.data.events = Array.from({ length: 10 }, () => ({ ...event, message: '"é<'.repeat(333) }));
    const template =
      '[{% for event in data.events %}{% capture line %}{{ event.message | strip | escape | upcase }}{% endcapture %}' +
      '{{ line | json }}{% unless forloop.last %},{% endunless %}{% endfor %},{{ data.events | map: "kind" | uniq | json }}]';
    const body = JSON.parse(render(template, full, { json: true, strict: true }));
    expect(body).toHaveLength(11);
    expect(body[10]).toEqual(['device.down']);
  });

  it('takes what a notice does not have as nothing once it is stored', () => {
    expect(made('{{ data.case.titel }}-{{ data.url }}', false, false)).toBe(
      '-https://rollcall.example.net/cases/019aa3c4-5b00-7000-8000-000000000002',
    );
  });

  it.each([
    ['takes in no file', '{% include "/etc/passwd" %}', /tag "include" not found/],
    ['takes in no file by another word', '{% render "../package.json" %}', /tag "render" not found/],
    ['has no layouts', '{% layout "/etc/passwd" %}', /tag "layout" not found/],
    ['reaches nothing of the language', '{{ data.constructor.name }}', /undefined variable/],
    ['counts to a billion', '{% for i in (1..1000000000) %}x{% endfor %}', /memory alloc limit/],
    [
      'loops in loops',
      '{% for i in (1..9000) %}{% for j in (1..9000) %}x{% endfor %}{% endfor %}',
      /limit exceeded/,
    ],
    [
      'doubles a text forty times',
      '{% assign s = summary %}{% for i in (1..40) %}{% assign s = s | append: s %}{% endfor %}{{ s }}',
      /memory alloc limit/,
    ],
    [
      'captures more and more of the same',
      `{% assign s = '' %}{% for i in (1..40) %}{% capture s %}{{ s }}{{ s }}${'x'.repeat(400)}{% endcapture %}{% endfor %}{{ s | size }}`,
      /more than 64 KiB|memory alloc limit/,
    ],
    [
      'writes the same for ever',
      `{% for i in (1..4000) %}{% for j in (1..40) %}${'x'.repeat(400)}{% endfor %}{% endfor %}`,
      /more than 64 KiB/,
    ],
    [
      'makes many steps that write nothing',
      '{% for i in (1..4000) %}{% for j in (1..40) %}{% if i == j %}{% endif %}{% endfor %}{% endfor %}',
      /limit exceeded/,
    ],
    [
      'puts a list into itself forty times',
      '{% assign a = data.case.tags %}{% for i in (1..40) %}{% assign a = a | push: a %}{% endfor %}{{ a }}',
      /memory alloc limit/,
    ],
    [
      'joins a long text many times',
      `{% capture s %}{% for i in (1..100) %}${'x'.repeat(400)}{% endfor %}{% endcapture %}{% assign a = s | split: "," %}` +
        '{% for i in (1..14) %}{% assign a = a | concat: a %}{% endfor %}{{ a | join: "" | size }}',
      /memory alloc limit/,
    ],
  ])('attack: a template that %s', (_, template, message) => {
    const began = performance.now();
    expect(() => made(template)).toThrow(message);
    // Far from both: it is bounded to half a second, and would run for minutes.
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it.each(['{{ s | split: s }}', '{{ s | remove_last: s }}', '{% if s contains s %}{% endif %}'])(
    'attack: a template that looks for a long text by %s',
    (use) => {
      const long = `{% capture s %}{% for i in (1..100) %}${'x'.repeat(400)}{% endfor %}{% endcapture %}`;
      expect(() => made(long + use)).toThrow(/looks for more than 1000 characters/);
    },
  );
});
