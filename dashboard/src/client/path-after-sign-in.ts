/**
 * Where a sign-in leads: a path of this dashboard, whatever a link says. It is read as the browser will read it, which
 * drops tabs and line breaks and takes a backslash for a slash.
 */
export const pathAfterSignIn = (next: unknown, origin: string): string => {
  if (typeof next !== 'string' || !next.startsWith('/') || !URL.canParse(next, origin)) return '/'
  const url = new URL(next, origin)
  const isOurs = url.origin === origin && url.pathname !== '/login'
  // A path of two slashes would name a host once it is followed.
  return isOurs && !url.pathname.startsWith('//') ? url.pathname + url.search + url.hash : '/'
}
