/** An address below a provider's base URL, in the scheme of WebSockets, with the query members that have a value. */
export const socketUrl = (
  base: string,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): URL => {
  const url = new URL(`${base.replace(/\/$/, '').replace(/^http/i, 'ws')}${path}`)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, value)
  return url
}

/** `de` of `de-DE`. */
export const plainLanguage = (language: string): string =>
  language.split('-')[0]?.toLowerCase() ?? 'en'
