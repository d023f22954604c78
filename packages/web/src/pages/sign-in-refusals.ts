import { OIDC_REFUSALS, type OidcRefusal } from '@rollcall/shared/api/accounts';

export interface Refusal {
  code: OidcRefusal;
  /** Names the request in the log of the server. */
  request: string;
}

/** What a fragment says of a sign-in with the provider; undefined where it is about nothing of the kind. */
export function arrivalOf(hash: string): 'signed-in' | Refusal | undefined {
  if (hash === '#signed-in') return 'signed-in';
  const [, word, request = ''] = /^#sign-in=([a-z-]{1,40})\.([0-9a-f-]{36})$/.exec(hash) ?? [];
  const code = OIDC_REFUSALS.find((each) => each === word);
  return code && { code, request };
}

/** What happened and what to do, for who wanted to sign in. `provider` is its name on the button. */
export const refusalText = (code: OidcRefusal, provider: string): string => TEXTS[code](provider);

const TEXTS: Record<OidcRefusal, (provider: string) => string> = {
  away: (provider) =>
    `${provider} did not answer. Try again in a few minutes; people with a local password can use it meanwhile.`,
  rejected: (provider) =>
    `Signing in with ${provider} is not set up correctly, so nobody can sign in this way. An administrator finds the reason with “rollcall-server doctor”.`,
  denied: (provider) => `${provider} did not let you in, or you cancelled there. Try again.`,
  stale: () =>
    'This sign-in took longer than ten minutes, began in another browser or tab, or was used already. Begin again.',
  busy: () => 'Too many people are signing in at this moment. Try again in a few seconds.',
  nameless: (provider) =>
    `${provider} tells Rollcall no name for you. An administrator corrects the setting oidc.nameClaim or the scopes.`,
  unknown: (provider) =>
    `You have no account here, and ${provider} makes none. Ask an administrator of Rollcall for one.`,
  taken: (provider) =>
    `Your name at ${provider} is that of another account here. An administrator can let that account sign in with ${provider}, under Users.`,
  disabled: () => 'Your account here is disabled. Ask an administrator of Rollcall.',
  'no-rule': (provider) =>
    `None of your groups at ${provider} has access to Rollcall. Ask an administrator for one that has; the setting oidc.rules names them.`,
  'no-groups': (provider) =>
    `${provider} tells Rollcall no groups for you, so you have no access. An administrator corrects the setting oidc.groupsClaim or the scopes, or what ${provider} tells.`,
};
