/**
 * Cross-site request forgery: a request that changes something and is authorised by a cookie must come from our own
 * pages. Sec-Fetch-Site is asked first, Origin where a browser does not send it (plain HTTP); a request with
 * neither is refused (OWASP, Cross-Site Request Forgery Prevention).
 */
export interface Origins {
  secFetchSite: string | undefined;
  origin: string | undefined;
  /** Host the request was sent to, by the trusted proxies' word where there are some. */
  host: string | undefined;
}

/** Why a request may have been forged by another site; null when it was not. */
export function forgery({ secFetchSite, origin, host }: Origins): string | null {
  if (secFetchSite !== undefined)
    return secFetchSite === 'same-origin'
      ? null
      : `the request comes from another site (${say(secFetchSite)})`;
  if (origin === undefined)
    return 'a request with a session cookie must say where it comes from: send Origin, or use a token';
  return host !== undefined && isOf(origin, host)
    ? null
    : `the request comes from another site (${say(origin)})`;
}

/** http or https, whichever: a proxy that ends TLS and is not named to us makes our idea of the scheme wrong. */
function isOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const own = new URL(origin);
  return /^https?:$/.test(own.protocol) && own.host === host.toLowerCase();
}

const say = (value: string): string => JSON.stringify(value.slice(0, 100));
