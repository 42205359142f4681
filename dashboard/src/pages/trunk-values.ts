const texts = [
  'user',
  'from_user',
  'from_domain',
  'realm',
  'outbound_proxy',
  'diversion',
  'auth',
] as const

/** The form's values in the shape of a trunk. Null takes a value away from one that stands. */
export const valuesOfForm = (data: FormData, isChange: boolean) => {
  const text = (name: string): string => {
    const value = data.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
  const items = (name: string, separator: string): string[] =>
    text(name)
      .split(separator)
      .map((item) => item.trim())
      .filter((item) => item !== '')
  const allOr = (name: string, separator: string): 'all' | string[] =>
    text(name) === 'all' || text(name) === '' ? 'all' : items(name, separator)
  const countries = allOr('countries', ',')
  const certificate = text('tls_certificate')
  const key = text('tls_key')
  return {
    name: text('name'),
    password: text('password'),
    // The key of a certificate that was taken away goes with it.
    tlsKey: key !== '' ? `${key}\n` : isChange && certificate === '' ? null : undefined,
    settings: {
      uris: items('uris', '\n'),
      headers: items('headers', '\n'),
      priority: Number(text('priority')),
      weight: Number(text('weight')),
      channels: text('channels') === '' ? null : Number(text('channels')),
      cps: Number(text('cps')),
      countries: countries === 'all' ? countries : countries.map((code) => code.toUpperCase()),
      organizations: allOr('organizations', '\n'),
      number_format: text('number_format'),
      strip: Number(text('strip')),
      identity: text('identity'),
      privacy: text('privacy'),
      codecs: items('codecs', ','),
      srtp: text('srtp'),
      dtmf: text('dtmf'),
      media: text('media'),
      redirect_to: items('redirect_to', ','),
      register: data.get('register') !== null,
      register_seconds: Number(text('register_seconds')),
      ...tlsOf(text, certificate, data.get('tls_insecure') !== null, isChange),
      ...Object.fromEntries(
        texts
          .map((name): readonly [string, string | null] => [name, text(name) || null])
          .filter(([, value]) => value !== null || isChange),
      ),
    },
  }
}

/** Without a value of its own a trunk has the installation's TLS settings. */
const tlsOf = (
  text: (name: string) => string,
  certificate: string,
  isInsecure: boolean,
  isChange: boolean,
) => {
  const given = {
    ...(text('tls_ca') !== '' && { ca: `${text('tls_ca')}\n` }),
    ...(certificate !== '' && { certificate: `${certificate}\n` }),
    ...(text('tls_server_name') !== '' && { server_name: text('tls_server_name') }),
    ...(text('tls_min_version') !== '' && { min_version: text('tls_min_version') }),
    ...(isInsecure && { verify: false }),
  }
  if (Object.keys(given).length > 0) return { tls: given }
  return isChange ? { tls: null } : {}
}
