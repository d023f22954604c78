/** The web application's files, as its build left them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { Problem } from '../problem.ts';

/**
 * Serves a build: files under `assets/` for ever (their names hold their hash), everything else always asked
 * again.
 * Any address without a file is a view of the application, which has one page; only its assets can be missing.
 */
export function webFiles(folder: string): RequestHandler {
  const router = express.Router({ caseSensitive: true });
  const index = join(folder, 'index.html');
  const refuse: RequestHandler = (request) => {
    throw request.method === 'GET' || request.method === 'HEAD'
      ? new Problem('not_found', 'there is nothing at this address')
      : new Problem('invalid_request', 'the method must be GET, HEAD', {
          status: 405,
          headers: { Allow: 'GET, HEAD' },
        });
  };
  router.use((request, response, next) =>
    request.method === 'GET' || request.method === 'HEAD' ? next() : refuse(request, response, next),
  );
  router.use(
    '/assets',
    express.static(join(folder, 'assets'), {
      index: false,
      redirect: false,
      immutable: true,
      maxAge: '1y',
      dotfiles: 'ignore',
    }),
    refuse,
  );
  router.use(express.static(folder, { index: false, redirect: false, maxAge: 0, dotfiles: 'ignore' }));
  let page: Buffer | undefined;
  router.use((_request, response) => {
    if (!page && existsSync(index)) page = readFileSync(index);
    if (!page) throw new Problem('not_found', 'the web application is not built; the API is at /api/docs');
    response.setHeader('Cache-Control', 'no-cache');
    response.type('text/html').end(page);
  });
  return router;
}
