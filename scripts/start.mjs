// npm start: installs what is missing, builds, and runs the demonstration.
import { build } from './build.mjs';

build({ all: false });
const { demonstrate } = await import('./demo.mjs');
await demonstrate();
