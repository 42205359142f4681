import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from './operator-error.ts'

/** Encrypts secrets of the installation at rest (D16). `context` binds a secret to its place: it opens nowhere else. */
export interface SecretBox {
  seal(secret: string, context: string): Buffer
  /** Throws `OperatorError` for a secret of another key, or of another place. */
  open(sealed: Buffer, context: string): string
  /** Whether it was sealed with the key that is here. Makes no key. */
  canOpen(sealed: Buffer): boolean
}

interface KeyPlace {
  /** 32 bytes in base64; undefined: the file in the data folder, made at its first use. */
  readonly secretKey: string | undefined
  readonly dataFolder: string
}

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const keyIdBytes = 4
const version = 1
const keyFile = 'secret-key'

/** AES-256-GCM. The key is read, or made, when it is first needed. */
export const createSecretBox = (place: KeyPlace): SecretBox => {
  let known: Buffer | undefined
  const key = (): Buffer => (known ??= readKey(place) ?? makeKey(place))
  // A key that is made would open nothing, and stand in the way of the one that is missing.
  const isOurs = (sealed: Buffer): boolean => {
    known ??= readKey(place)
    return (
      known !== undefined &&
      sealed[0] === version &&
      sealed.subarray(1, 1 + keyIdBytes).equals(keyIdOf(known))
    )
  }
  return {
    seal: (secret, context) => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key(), nonce).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(version), keyIdOf(key()), nonce, cipher.getAuthTag(), body])
    },
    canOpen: isOurs,
    open: (sealed, context) => {
      if (!isOurs(sealed))
        throw new OperatorError(
          `The secret of ${context} was encrypted with another key: set OUTDIAL_SECRET_KEY to the key that encrypted it (the file ${keyFile} of the data folder), or enter the secret again.`,
        )
      const nonce = sealed.subarray(1 + keyIdBytes, 1 + keyIdBytes + nonceBytes)
      const rest = sealed.subarray(1 + keyIdBytes + nonceBytes)
      const decipher = createDecipheriv('aes-256-gcm', key(), nonce)
        .setAAD(Buffer.from(context))
        .setAuthTag(rest.subarray(0, tagBytes))
      try {
        return decipher.update(rest.subarray(tagBytes), undefined, 'utf8') + decipher.final('utf8')
      } catch (error) {
        throw new OperatorError(`The secret of ${context} was changed: enter it again.`, {
          cause: error,
        })
      }
    },
  }
}

/** Names the key without telling it. */
const keyIdOf = (key: Buffer): Buffer =>
  createHash('sha256').update('outdial secret key').update(key).digest().subarray(0, keyIdBytes)

/** Undefined: there is none yet. */
const readKey = ({ secretKey, dataFolder }: KeyPlace): Buffer | undefined => {
  if (secretKey !== undefined) return Buffer.from(secretKey, 'base64')
  const path = join(dataFolder, keyFile)
  const key = readKeyFile(path)
  if (key !== undefined && key.length !== keyBytes)
    throw new OperatorError(`${path} does not hold a key of ${keyBytes} bytes: restore the file.`)
  return key
}

const readKeyFile = (path: string): Buffer | undefined => {
  try {
    return Buffer.from(readFileSync(path, 'utf8').trim(), 'base64')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new OperatorError(`${path} cannot be read: ${(error as Error).message}.`)
  }
}

/** Another process may make it at the same moment: the first one stays. */
const makeKey = ({ dataFolder }: KeyPlace): Buffer => {
  const path = join(dataFolder, keyFile)
  mkdirSync(dataFolder, { recursive: true })
  const key = randomBytes(keyBytes)
  try {
    writeFileSync(path, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
    return key
  } catch (error) {
    const made = readKeyFile(path)
    if (made === undefined) throw error
    return made
  }
}
