import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { nearestWord } from '../runtime/nearest-word.ts'
import { readEnvFile } from './env-file.ts'
import type { Setting } from './setting.ts'
import { isSetting, settings, settingsOf, type SettingGroup } from './settings.ts'

type Values<Group> = {
  readonly [Member in keyof Group]: Group[Member] extends Setting<infer Value>
    ? Value
    : Values<Group[Member]>
}

/** The values of the settings, by group: `config.sip.trunk`, `config.engines.llm.url`. Only this file reads the environment. */
export interface Config extends Values<typeof settings> {}

/** One or more settings are invalid. The message names each, with the reason and the remedy. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(...problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/**
 * Adds the variables of `.env` in the working folder to the environment, which has precedence. Returns the file and line of
 * each variable it added.
 * @throws ConfigError that names each wrong line
 */
export const loadEnvFile = (): ReadonlyMap<string, string> => {
  const { values, places, problems } = readEnvFile(process.cwd(), problemOfName)
  if (problems.length > 0) throw new ConfigError(...problems)
  const taken = Object.keys(values).filter((name) => process.env[name] === undefined)
  for (const name of taken) process.env[name] = values[name]
  return new Map([...places].filter(([name]) => taken.includes(name)))
}

/**
 * Reads and checks every setting.
 * @throws ConfigError that names each wrong setting, with the nearest name for an unknown one
 */
export const readConfig = (
  env: Readonly<Record<string, string | undefined>> = process.env,
  places: ReadonlyMap<string, string> = new Map(),
): Config => {
  const problems = unknownNames(env)
  const read = (entry: Setting<unknown>): unknown => {
    try {
      const parsed = entry.schema.safeParse(textOf(entry, env))
      if (parsed.success) return parsed.data
      const why = parsed.error.issues[0]?.message ?? 'is not valid'
      problems.push(`${placeOf(entry, places)}${entry.name} ${why}.`)
    } catch (error) {
      problems.push(error instanceof ConfigError ? error.message : String(error))
    }
    return undefined
  }
  const config = valuesOf(settings, read) as Config
  if (problems.length > 0) throw new ConfigError(...problems)
  const missing = [
    ...missingServers(config.engines),
    ...halfBucket(config.bucket),
    ...halfAdmin(config.admin),
  ]
  if (missing.length > 0) throw new ConfigError(...missing)
  return {
    ...config,
    store: { ...config.store, dataFolder: resolve(config.store.dataFolder) },
  }
}

const valuesOf = (group: SettingGroup, read: (entry: Setting<unknown>) => unknown): object =>
  Object.fromEntries(
    Object.entries(group).map(([name, member]) => [
      name,
      isSetting(member) ? read(member) : valuesOf(member, read),
    ]),
  )

/** The file and line of a value, as the beginning of a message. Empty for a value of the environment. */
const placeOf = ({ name }: Setting<unknown>, places: ReadonlyMap<string, string>): string => {
  const place = places.get(name)
  return place === undefined ? '' : `${place}: `
}

/** Refuses an engine without its servers at start, because every call would fail later. */
const missingServers = ({ kind, ...servers }: Config['engines']): string[] => {
  const needed = { sandbox: [], realtime: ['realtime'], cascade: ['stt', 'llm', 'tts'] } as const
  return needed[kind ?? 'sandbox']
    .filter((server) => servers[server].url === undefined)
    .map(
      (server) => `${settings.engines[server].url.name} must be set, as OUTDIAL_ENGINE is ${kind}.`,
    )
}

/** An account needs both. */
const halfAdmin = ({ email, password }: Config['admin']): string[] =>
  (email === undefined) === (password === undefined)
    ? []
    : ['OUTDIAL_ADMIN_EMAIL and OUTDIAL_ADMIN_PASSWORD go together; set both or none.']

/** Refuses settings of a bucket that would have no effect. */
const halfBucket = (bucket: Config['bucket']): string[] => {
  const key = bucket.accessKeyId !== undefined
  const secret = bucket.secretAccessKey !== undefined
  const isMeant = key || secret || bucket.endpoint !== undefined
  return [
    ...(isMeant && bucket.name === undefined
      ? ['OUTDIAL_S3_BUCKET must be set, as other OUTDIAL_S3_ settings are.']
      : []),
    ...(key === secret
      ? []
      : [
          'OUTDIAL_S3_ACCESS_KEY_ID and OUTDIAL_S3_SECRET_ACCESS_KEY go together; set both or none.',
        ]),
  ]
}

const textOf = (
  { name, secret }: Setting<unknown>,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined => {
  const direct = env[name] === '' ? undefined : env[name]
  const file = secret ? env[`${name}_FILE`] : undefined
  if (file === undefined || file === '') return direct
  if (direct !== undefined)
    throw new ConfigError(`${name} and ${name}_FILE are both set; keep one.`)
  const content = readSecret(name, file)
  if (content === '') throw new ConfigError(`${name}_FILE names an empty file: ${file}.`)
  return content
}

const readSecret = (name: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`${name}_FILE cannot be read: ${(error as Error).message}.`)
  }
}

const knownNames = new Set(
  settingsOf(settings).flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
)

const unknownNames = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(env).flatMap((name) => problemOfName(name) ?? [])

/** The problem with a name that begins with OUTDIAL_ and is not a setting. */
const problemOfName = (name: string): string | undefined =>
  name.startsWith('OUTDIAL_') && !knownNames.has(name)
    ? `${name} is not a setting; did you mean ${nearestWord(name, knownNames)}? docs/settings.md lists them all.`
    : undefined
