import { randomBytes } from 'node:crypto'
import { sdesKeyBytes, sdesSuites, type CryptoLine, type SdesSuite } from './crypto-line.ts'

/** The keys with which our side of one call encrypts. */
export interface OwnKeys {
  /** One line for each suite, for an offer. */
  offered(): readonly CryptoLine[]
  of(suite: SdesSuite): string
  /** The other side has this key now. A changed one makes ours new as well (RFC 4568 7.1.4). */
  agreed(theirs: CryptoLine): void
}

export const createOwnKeys = (): OwnKeys => {
  const keys = new Map<SdesSuite, string>()
  let last: string | undefined

  const of = (suite: SdesSuite): string => {
    const known = keys.get(suite)
    if (known !== undefined) return known
    const key = randomBytes(sdesKeyBytes[suite]).toString('base64')
    keys.set(suite, key)
    return key
  }

  return {
    offered: () => sdesSuites.map((suite, index) => ({ tag: index + 1, suite, key: of(suite) })),
    of,
    agreed({ key }) {
      if (last !== undefined && last !== key) keys.clear()
      last = key
    },
  }
}
