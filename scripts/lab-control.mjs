// What the lab says at its Unix socket.
import { request } from 'node:http';

/** What can be broken, what is, and which addresses answer nobody. */
export const labState = (socketPath) =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/' }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => resolve(JSON.parse(text)));
    });
    asked.on('error', reject);
    asked.end();
  });
