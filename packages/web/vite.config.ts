import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/**
 * Method and path of every REST operation as a module of plain data. Types come from the shared table itself; taking
 * only the data keeps zod and every schema out of the browser.
 */
function operationsPlugin(): Plugin {
  const name = 'virtual:operations';
  return {
    name: 'rollcall-operations',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: async (id) => {
      if (id !== `\0${name}`) return undefined;
      const { operations } = await import('@rollcall/shared/api/index');
      const routes = Object.fromEntries(
        Object.entries(operations).map(([id, operation]) => [id, [operation.method, operation.path]]),
      );
      return `export default ${JSON.stringify(routes)};`;
    },
  };
}

export default defineConfig({
  plugins: [react(), operationsPlugin()],
  build: { outDir: 'dist/site', emptyOutDir: true, target: 'es2022', sourcemap: false, assetsInlineLimit: 0 },
  // `npm run dev` in this package: a server must run on 8080.
  server: { proxy: { '/api': 'http://127.0.0.1:8080' } },
});
