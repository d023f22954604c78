// The far end of JetStream in `delivery.mjs`: writes every message to a file, then acknowledges it.
import { openSync, writeSync } from 'node:fs';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const [port, file] = process.argv.slice(2);
const out = openSync(file, 'a');
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

for (;;) {
  try {
    const connection = await connect({
      servers: `127.0.0.1:${port}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 200,
      waitOnFirstConnect: true,
      pingInterval: 2000,
    });
    const consumer = await jetstream(connection).consumers.get('OBS', 'far');
    for await (const message of await consumer.consume({ max_messages: 500, expires: 5000 })) {
      writeSync(out, `${message.string()}\n`);
      message.ack();
    }
    await connection.close();
  } catch (error) {
    process.stderr.write(`${error}\n`);
    await wait(300);
  }
}
