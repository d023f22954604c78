// A client of one connection that costs next to nothing: it shares its process with the server that is measured.
import { connect } from 'node:net';

/** Opens it. `get(path)` answers `{ status, body }`; one request at a time. */
export function openClient(port, token) {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  let answer = Buffer.alloc(0);
  let whole = -1;
  let waiting;
  socket.on('data', (part) => {
    answer = answer.length === 0 ? part : Buffer.concat([answer, part]);
    if (whole < 0) {
      const end = answer.indexOf('\r\n\r\n');
      if (end < 0) return;
      whole = end + 4 + Number(/^content-length: (\d+)/im.exec(answer.latin1Slice(0, end))?.[1]);
    }
    if (answer.length < whole) return;
    const done = { status: Number(answer.latin1Slice(9, 12)), bytes: answer };
    answer = Buffer.alloc(0);
    whole = -1;
    waiting.resolve(done);
  });
  socket.on('error', (error) => waiting?.reject(error));
  const closed = () => new Error('the server closed the connection');
  socket.on('close', () => waiting?.reject(closed()));
  return {
    get: async (path) => {
      const { status, bytes } = await new Promise((resolve, reject) => {
        if (!socket.writable) return reject(closed());
        waiting = { resolve, reject };
        socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      });
      return { status, body: bytes.utf8Slice(bytes.indexOf('\r\n\r\n') + 4) };
    },
    close: () => {
      waiting = undefined;
      socket.destroy();
    },
  };
}
