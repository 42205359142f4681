import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { AgreedAudio } from '../sdp/sdp.ts'

/** At most 253 characters: labels of letters, digits and hyphens (RFC 1123 2.1). */
const isHostName = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((label) => /^[a-z0-9][a-z0-9-]{0,62}$/i.test(label))

const limitMs = 2_000

type FindAddress = (name: string) => Promise<string>

const findAddress: FindAddress = async (name) => (await lookup(name)).address

/**
 * The audio with an address in place of the host name that its `c=` line has (RFC 8866 5.7); undefined if it has an
 * address already. A name without an address stays: the trunk's signalling addresses may still send. Never rejects.
 */
export const resolveMedia = (
  audio: AgreedAudio,
  find: FindAddress = findAddress,
): Promise<AgreedAudio> | undefined => {
  const { address, port } = audio.remote
  if (isIP(address) !== 0) return undefined
  if (!isHostName(address)) return Promise.resolve(audio)
  return withinLimit(find(address)).then(
    (found) => (found === undefined ? audio : { ...audio, remote: { address: found, port } }),
    () => audio,
  )
}

const withinLimit = async (found: Promise<string>): Promise<string | undefined> => {
  const limit = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => limit.resolve(undefined), limitMs)
  found.catch(() => undefined)
  try {
    return await Promise.race([found, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}
