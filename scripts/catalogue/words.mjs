// Words that names in MIBs are made of.

export const tokens = (name) =>
  name
    .replace(/dBm/g, 'Dbm')
    .replace(/([TR])X(?=[a-z])/g, ' $1x ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/[-_]/g, ' ')
    .toLowerCase()
    .split(' ')
    .filter(Boolean);

export const without = (list, words) => new Set(list.filter((word) => !words.has(word)));
