import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { trunkAddress } from './addresses.ts'
import { composeResponse, headerOf, parseSip, type SipText } from './sip-text.ts'

/** A trunk that accepts only TLS, with a certificate of its own authority. */
export interface TlsTrunk {
  readonly port: number
  readonly uri: string
  /** The trusted authority for the product, as NODE_EXTRA_CA_CERTS takes it. */
  readonly authorityFile: string
  /** Open connections with a finished handshake, the newest last. */
  readonly connections: readonly Socket[]
  /** Received calls; each got 486. */
  readonly calls: readonly SipText[]
  /** Resolves once the product answered a request of this Call-ID. */
  answerTo(callId: string): Promise<void>
  close(): void
}

export const openTlsTrunk = async (): Promise<TlsTrunk> => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-attack-tls-'))
  const { cert, key, authorityFile } = makeCertificate(folder)
  const connections: Socket[] = []
  const calls: SipText[] = []
  const waiting = new Map<string, () => void>()
  const server = createServer({ cert, key }, (socket) => {
    connections.push(socket)
    socket.on('error', () => socket.destroy())
    // The product closed it: further writes are not read.
    socket.on('end', () => socket.destroy())
    socket.on('close', () => void connections.splice(connections.indexOf(socket), 1))
    socket.setEncoding('latin1')
    let text = ''
    socket.on('data', (chunk: string) => {
      text += chunk
      for (;;) {
        const end = endOfMessage(text)
        if (end === undefined) return
        answer(text.slice(0, end))
        text = text.slice(end)
      }
    })
    const answer = (written: string): void => {
      const message = parseSip(written.trimStart())
      if (message?.status !== undefined) waiting.get(headerOf(message, 'call-id'))?.()
      if (message?.method === undefined || message.method === 'ACK') return
      if (message.method === 'INVITE') calls.push(message)
      const status = message.method === 'INVITE' ? '486 Busy Here' : '200 OK'
      socket.write(composeResponse(message, status, { toTag: 'trunk' }))
    }
  })
  // Peers that abort a handshake.
  server.on('tlsClientError', () => undefined)
  server.listen(0, trunkAddress)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    uri: `sip:outdial:correct-horse@${trunkAddress}:${port};transport=tls`,
    authorityFile,
    connections,
    calls,
    answerTo: (callId) =>
      new Promise((resolve) => {
        waiting.set(callId, () => {
          waiting.delete(callId)
          resolve()
        })
      }),
    close: () => {
      for (const socket of connections.slice()) socket.destroy()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Of the first whole message, including keep-alives before it. */
const endOfMessage = (text: string): number | undefined => {
  const start = text.length - text.trimStart().length
  const headEnd = text.indexOf('\r\n\r\n', start)
  if (headEnd < 0) return undefined
  const message = parseSip(text.slice(start, headEnd + 4))
  return headEnd + 4 + Number(message && headerOf(message, 'content-length'))
}

const makeCertificate = (folder: string) => {
  const [keyFile, authorityFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const kind = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'
  const subject = `-subj /CN=${trunkAddress} -addext subjectAltName=IP:${trunkAddress}`
  const words = [...`${kind} ${subject}`.split(' '), '-keyout', keyFile, '-out', authorityFile]
  execFileSync('openssl', words, { stdio: 'ignore' })
  return { cert: readFileSync(authorityFile), key: readFileSync(keyFile), authorityFile }
}
