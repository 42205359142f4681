import { createHmac } from 'node:crypto'
import { sessionDays } from './session-store.ts'

export const sessionCookieName = 'outdial_session'

/** Headers are read up to so many characters; a browser sends a few cookies of one host. */
const maxCookieLength = 8_192

/** The value of one cookie in a `Cookie` header, as it was sent. */
export const readCookie = (header: string | null | undefined, name: string): string | undefined => {
  if (header === null || header === undefined || header.length > maxCookieLength) return undefined
  for (const part of header.split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return undefined
}

const token = /^[A-Za-z0-9]{32}$/

/** The session's token in the value of its cookie: what stands before the signature. */
export const tokenOf = (cookie: string): string | undefined => {
  const [text = ''] = cookie.split('.', 1)
  return token.test(text) ? text : undefined
}

/** The value of a cookie that an answer sets, still encoded. */
export const valueOfSetCookie = (headers: Headers, name: string): string | undefined => {
  for (const line of headers.getSetCookie()) {
    const value = readCookie(line.split(';', 1)[0], name)
    if (value !== undefined && value !== '') return value
  }
  return undefined
}

/** The request headers of a client that keeps what an answer set. */
export const cookieHeader = (headers: Headers): Headers => {
  const pairs = headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '')
  return new Headers({ cookie: pairs.filter((pair) => !pair.endsWith('=')).join('; ') })
}

/** A session's cookie as better-auth signs it. */
export const signedCookie = (text: string, secret: string): string => {
  const signature = createHmac('sha256', secret).update(text).digest('base64')
  return encodeURIComponent(`${text}.${signature}`)
}

/** The `Set-Cookie` of a session (D18). */
export const sessionCookie = (value: string, isSecure: boolean): string =>
  attributes(`${sessionCookieName}=${value}`, sessionDays * 24 * 3600, isSecure)

/** The `Set-Cookie` that makes the browser forget its session. */
export const endedCookie = (isSecure: boolean): string =>
  attributes(`${sessionCookieName}=`, 0, isSecure)

const attributes = (pair: string, maxAgeSeconds: number, isSecure: boolean): string =>
  [
    pair,
    `Max-Age=${maxAgeSeconds}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    ...(isSecure ? ['Secure'] : []),
  ].join('; ')
