// healthcheck.mjs URL: ends with 0 where the address answers 200, else with 1 and what it said. Asks this container alone, so
// the certificate, which names others, is not checked.
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';

const [, , url = ''] = process.argv;
const fail = (reason) => {
  console.error(reason);
  process.exit(1);
};
const get = url.startsWith('https:') ? getSecure : getPlain;
const request = get(url, { rejectUnauthorized: false, timeout: 4000 }, (response) => {
  let text = '';
  response.on('data', (chunk) => {
    text += chunk;
  });
  response.on('end', () => (response.statusCode === 200 ? process.exit(0) : fail(text.trim())));
});
request.on('timeout', () => fail('no answer within 4 s'));
request.on('error', ({ message }) => fail(message));
