import type { CustomField } from '@rollcall/shared/api/annotations';
import { expect, it } from 'vitest';
import {
  annotationBody,
  annotationValues,
  choiceOptions,
  filterChoices,
  manyBody,
  tagsOf,
} from './annotation-values.ts';

const field = (name: string, type: CustomField['type'], choices: string[] = []): CustomField => ({
  ...{ id: name, appliesTo: 'device', createdAt: 0 },
  ...{ name, type, choices },
});
const defined = [
  field('Rack', 'text'),
  field('Units', 'number'),
  field('Spare', 'boolean'),
  field('Support', 'choice', ['silver']),
];
const loaded = annotationValues({
  tags: ['core'],
  note: 'by the door',
  fields: { Rack: 'A-1', Units: 2, Spare: true, Support: 'gold' },
});

it('sends only what differs from what was loaded', () => {
  expect(annotationBody(loaded, defined, loaded)).toEqual({});
  const { fields } = loaded;
  expect(annotationBody({ ...loaded, fields: { ...fields, Units: '3' } }, defined, loaded)).toEqual({
    fields: { Units: 3 },
  });
  expect(
    annotationBody({ tags: [], note: '', fields: { ...fields, Spare: 'false', Rack: ' ' } }, defined, loaded),
  ).toEqual({ tags: [], note: '', fields: { Spare: false, Rack: null } });
  expect(annotationBody({ tags: ['x'], note: '', fields: { Support: 'silver' } }, defined)).toEqual({
    tags: ['x'],
    fields: { Support: 'silver' },
  });
});

it('shows a value that is no longer a choice, which does not hinder saving', () => {
  expect(choiceOptions(['silver'], 'silver')).toHaveLength(1);
  expect(choiceOptions(['silver'], 'gold').map(({ value }) => value)).toEqual(['silver', 'gold']);
});

it('offers as filters what a field can be, each once', () => {
  const field = { name: 'Tier', type: 'choice', choices: ['gold', 'silver'] } as unknown as CustomField;
  const others = [
    { ...field, choices: ['gold'] },
    { ...field, name: 'Metered', type: 'boolean', choices: [] },
    { ...field, name: 'Rack', type: 'text', choices: [] },
  ] as CustomField[];
  const offered = ['Tier:gold', 'Tier:silver', 'Metered:true', 'Metered:false'];
  expect(filterChoices([field, ...others])).toEqual(offered);
});

it('what a form says of several sets only what is not empty', () => {
  const fields = { Rack: ' ', Units: '' };
  expect(manyBody({ add: [], remove: [], note: ' ', fields }, defined)).toEqual({});
  const typed = { add: ['core'], remove: ['new'], note: 'Hall 2', fields: { Rack: 'A-1', Units: '2' } };
  expect(manyBody(typed, defined)).toEqual({
    addTags: ['core'],
    removeTags: ['new'],
    note: 'Hall 2',
    fields: { Rack: 'A-1', Units: 2 },
  });
});

it('the tags of several are told once, whatever their case', () => {
  expect(tagsOf([{ tags: ['Uplink', 'core'] }, { tags: [] }, { tags: ['Core', 'access'] }])).toEqual([
    'Core',
    'Uplink',
    'access',
  ]);
});
