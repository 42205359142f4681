import { statSync } from 'node:fs'
import type { Logger } from '../runtime/logger.ts'
import { readTlsFiles, type TlsFileSettings, type FiledTls } from './tls-files.ts'

/** Certificates are renewed days before they expire. */
const lookEveryMs = 10_000

interface RenewedTls {
  readonly client: () => FiledTls['client']
  /** Undefined: SIP does not listen on TLS. */
  readonly server: (() => NonNullable<FiledTls['server']>) | undefined
  readonly port: number
}

/**
 * The files of SIP over TLS, read again when one of them was replaced: each new connection, in either direction, has what
 * they hold by then. A file that is missing, or does not fit the others yet, leaves everything as it was. Throws
 * `StartError` for files that cannot be used at the start.
 */
export const followTlsFiles = (
  settings: TlsFileSettings,
  logger: Logger,
  nowMs: () => number = () => performance.now(),
): RenewedTls => {
  let current = readTlsFiles(settings)
  let [seen, refused] = [marksOf(settings), '']
  let lookedAtMs = nowMs()
  const look = (): FiledTls => {
    if (nowMs() - lookedAtMs < lookEveryMs) return current
    lookedAtMs = nowMs()
    const marks = marksOf(settings)
    if (marks === seen) return current
    try {
      current = readTlsFiles(settings)
      seen = marks
      logger.info({}, 'the TLS files of SIP were replaced: new connections use them')
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (marks !== refused)
        logger.error({ reason }, 'the replaced TLS files of SIP cannot be used: the old ones stay')
      refused = marks
    }
    return current
  }
  const { server } = current
  return {
    client: () => look().client,
    server: server && (() => look().server ?? server),
    port: current.port,
  }
}

/** What changes when a file is written, replaced, or linked to another. */
const marksOf = ({ tlsCertificate, tlsKey, tlsAuthorities }: TlsFileSettings): string =>
  [tlsCertificate, tlsKey, tlsAuthorities].map((path) => path && markOf(path)).join(', ')

const markOf = (path: string): string => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? 'none' : `${found.ino} ${found.size} ${found.mtimeMs}`
}
