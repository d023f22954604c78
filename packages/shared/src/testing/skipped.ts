/**
 * Says that tests are skipped, for the lines at the end of the run.
 * @param what which tests, and what would run them: `the watch over real links: be root, install iproute2 and snmpd`.
 */
export function skipped(what: string): void {
  // biome-ignore lint/suspicious/noConsole: the test runner hands a test's console, and nothing else, to its reporters
  console.error(`SKIPPED: ${what}`);
}
