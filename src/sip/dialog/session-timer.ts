import { parseDelaySeconds, sessionExpiresOf } from '../message/headers.ts'
import { headerOf, listsToken, type Header, type SipMessage } from '../message/message.ts'
import type { Time } from '../../runtime/time.ts'
import { createTimers } from '../transaction/timers.ts'

/** RFC 4028: how long a session lives without a refresh, and the shortest interval we accept. */
export interface SessionTimerSettings {
  readonly expiresSeconds: number
  readonly minSeconds: number
}

/** Half an hour, and the minimum of RFC 4028 5. */
export const defaultSessionTimer: SessionTimerSettings = { expiresSeconds: 1800, minSeconds: 90 }

interface SessionTerms {
  readonly seconds: number
  readonly weRefresh: boolean
}

/** The terms that the caller accepts with a 2xx: no Session-Expires means no timer (RFC 4028 7.2). */
export const termsOfAnswer = (
  response: SipMessage,
  settings: SessionTimerSettings,
): SessionTerms | undefined => {
  const expires = sessionExpiresOf(response)
  if (expires === undefined) return undefined
  const seconds = Math.max(expires.seconds, settings.minSeconds)
  return { seconds, weRefresh: expires.refresher !== 'uas' }
}

/**
 * The terms that the callee accepts for a request: the requested ones, at least our minimum. The requesting side
 * refreshes unless it chooses otherwise, or does not support the timer itself (RFC 4028 9, table 2).
 */
export const termsOfRequest = (
  request: SipMessage,
  settings: SessionTimerSettings,
): SessionTerms | undefined => {
  const expires = sessionExpiresOf(request)
  if (expires === undefined) return undefined
  const callerCan = listsToken(request, 'supported', 'timer')
  const seconds = Math.max(expires.seconds, settings.minSeconds)
  return { seconds, weRefresh: expires.refresher === 'uas' || !callerCan }
}

/** The 2xx's side of the terms. */
export const termsHeaders = (
  request: SipMessage,
  terms: SessionTerms | undefined,
): readonly Header[] => {
  if (terms === undefined) return []
  const refresher = terms.weRefresh ? 'uas' : 'uac'
  const required: Header[] = listsToken(request, 'supported', 'timer') ? [['require', 'timer']] : []
  return [['session-expires', `${terms.seconds};refresher=${refresher}`], ...required]
}

/** What a request that refreshes the session asks for: we go on refreshing it (RFC 4028 7.4). */
export const refreshHeaders = ({ expiresSeconds, minSeconds }: SessionTimerSettings): Header[] => [
  ['supported', 'timer'],
  ['session-expires', `${expiresSeconds};refresher=uac`],
  ['min-se', String(minSeconds)],
]

/**
 * Whether a request asks for a shorter interval than we accept; only a caller that supports the timer gets a 422.
 */
export const isTooBrief = (request: SipMessage, { minSeconds }: SessionTimerSettings): boolean => {
  const expires = sessionExpiresOf(request)
  const canRetry = listsToken(request, 'supported', 'timer')
  return expires !== undefined && canRetry && expires.seconds < minSeconds
}

/** The minimum a 422 asks for. */
export const minimumOf = (response: SipMessage): number | undefined =>
  parseDelaySeconds(headerOf(response, 'min-se'))

/** Runs the terms of one session. */
export interface SessionTimer {
  /** Restarts: after every 2xx that refreshes the session. `undefined` ends it. */
  restart(terms: SessionTerms | undefined): void
  /** Our refresh was not accepted: the session still lives until its interval ends. */
  refreshFailed(): void
  stop(): void
}

export const createSessionTimer = (
  time: Time,
  actions: { readonly refresh: () => void; readonly expire: () => void },
): SessionTimer => {
  const timers = createTimers<'session'>(time)
  let current: SessionTerms | undefined
  return {
    restart: (terms) => {
      timers.clearAll()
      current = terms
      if (terms === undefined) return
      const { seconds, weRefresh } = terms
      if (weRefresh) timers.set('session', (seconds * 1000) / 2, actions.refresh)
      else timers.set('session', (seconds - marginSeconds(seconds)) * 1000, actions.expire)
    },
    refreshFailed: () => {
      if (current === undefined) return
      const leftSeconds = current.seconds / 2 - marginSeconds(current.seconds)
      timers.set('session', leftSeconds * 1000, actions.expire)
    },
    stop: () => {
      current = undefined
      timers.clearAll()
    },
  }
}

// The side that waits gives up a little before the interval ends (RFC 4028 10).
const marginSeconds = (seconds: number): number => Math.min(32, seconds / 3)
