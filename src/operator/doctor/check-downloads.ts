import type { Config } from '../../config/read-config.ts'
import { httpOrigin } from '../../http/http-origin.ts'
import { ok, warning, type Finding } from './finding.ts'

/** Checks that clients can reach the address that download URLs begin with. */
export const checkDownloads = ({ http }: Pick<Config, 'http'>): Finding => {
  const told = http.publicMediaUrl
  if (told !== undefined) return ok('downloads', `Clients download recordings from ${told}.`)
  const origin = httpOrigin(http.host, http.mediaPort)
  return isLoopback(http.host)
    ? ok('downloads', `Clients on this machine download recordings from ${origin}.`)
    : warning(
        'downloads',
        `Clients are told to download recordings from ${origin}: set OUTDIAL_PUBLIC_MEDIA_URL to the address they reach it at.`,
      )
}

const isLoopback = (host: string): boolean => /^(?:127\.|::1$|localhost$)/.test(host)
