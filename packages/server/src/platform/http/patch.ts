/** A thing after a change that names only what differs. */
export function patched<T extends object>(before: T, patch: { [K in keyof T]?: T[K] | undefined }): T {
  const given = Object.entries(patch).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(given) };
}
