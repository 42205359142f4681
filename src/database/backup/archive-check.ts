import {
  ArchiveError,
  type ArchiveFigures,
  type Manifest,
  type ObjectHead,
  type TableHead,
} from './archive-format.ts'
import { parse, readArchive, type Frame } from './archive-reader.ts'

/** An hour of recording is 14 MB. */
const maxObjectBytes = 64 * 1024 * 1024
/** A row in COPY's format, in one line: ours stay below 1 MiB. The loader holds a whole row in memory. */
const maxRowBytes = 16 * 1024 * 1024
const lineFeed = 10
/** More than the schema will have. */
const maxTables = 1_000
/** More than PostgreSQL allows a table. */
const maxColumns = 1_600
const maxMigrations = 10_000
/** Two for each recording: more than any disk of this program holds. */
const maxObjects = 100_000_000

interface ArchiveRules {
  /** Whether a storage would accept the key: one that leaves its folder is refused. */
  readonly isObjectKey: (key: string) => boolean
}

/** The manifest of a backup, and its unpacked size. */
export interface CheckedArchive {
  readonly manifest: Manifest
  readonly figures: ArchiveFigures
  readonly rowBytes: number
  readonly objectBytes: number
}

/** Reads all of it once, and stores none of it. Returns its content summary; throws `ArchiveError`. */
export const verifyArchive = async (path: string, rules: ArchiveRules): Promise<CheckedArchive> => {
  let manifest: Manifest | undefined
  let figures: ArchiveFigures | undefined
  const bytes = { T: 0, J: 0, O: 0 }
  let section: keyof typeof bytes | undefined
  for await (const { type, payload } of readCheckedArchive(path, rules)) {
    if (type === 'M') manifest = parse<Manifest>(payload)
    else if (type === 'E') figures = parse<ArchiveFigures>(payload)
    else if (type !== 'D') section = type
    else if (section !== undefined) bytes[section] += payload.length
  }
  if (!manifest || !figures) throw damaged('it does not say what it holds')
  return { manifest, figures, rowBytes: bytes.T + bytes.J, objectBytes: bytes.O }
}

/**
 * The frames of a backup, each compared with what our own writer makes: order, names, counts and sizes. A checksum
 * proves nothing about that, because an attacker can compute a new one. Throws `ArchiveError`.
 */
export async function* readCheckedArchive(
  path: string,
  rules: ArchiveRules,
): AsyncGenerator<Frame> {
  const check = createCheck(rules)
  for await (const frame of readArchive(path)) {
    check(frame)
    yield frame
  }
}

const damaged = (what: string): ArchiveError => new ArchiveError(`The backup is damaged: ${what}.`)

const createCheck = ({ isObjectKey }: ArchiveRules): ((frame: Frame) => void) => {
  const tables = new Set<string>()
  let frames = 0
  let objects = 0
  let hasJobs = false
  let takesData = false
  /** Size of the object whose data follows; undefined for rows, whose size is not known in advance. */
  /** Of the row that has begun. */
  let rowBytes = 0
  let missingBytes: number | undefined

  const endSection = (): void => {
    if (missingBytes !== undefined && missingBytes > 0) throw damaged('an object is cut short')
    missingBytes = undefined
    rowBytes = 0
    takesData = false
  }

  const takeData = ({ payload }: Frame): void => {
    if (!takesData) throw damaged('data belongs to nothing')
    if (missingBytes === undefined) return takeRows(payload)
    missingBytes -= payload.length
    if (missingBytes < 0) throw damaged('an object is larger than it says')
  }

  const takeRows = (payload: Buffer): void => {
    const [first, last] = [payload.indexOf(lineFeed), payload.lastIndexOf(lineFeed)]
    if (rowBytes + (first < 0 ? payload.length : first) > maxRowBytes)
      throw damaged('a row is longer than 16 MiB')
    rowBytes = first < 0 ? rowBytes + payload.length : payload.length - 1 - last
  }

  const takeTable = ({ payload }: Frame): void => {
    const { name } = tableHead(payload)
    if (tables.has(name)) throw damaged(`the table ${name} is there twice`)
    tables.add(name)
    if (tables.size > maxTables) throw damaged(`it holds more than ${maxTables} tables`)
    takesData = true
  }

  const takeObject = ({ payload }: Frame): void => {
    const { key, size } = parse<Partial<ObjectHead>>(payload)
    if (typeof key !== 'string' || !isObjectKey(key)) throw damaged('an object has no usable name')
    if (typeof size !== 'number' || !Number.isInteger(size) || size < 0)
      throw damaged(`the object ${key} has no size`)
    if (size > maxObjectBytes) throw damaged(`the object ${key} is larger than 64 MiB`)
    objects += 1
    if (objects > maxObjects) throw damaged(`it holds more than ${maxObjects} objects`)
    takesData = size > 0
    missingBytes = size
  }

  return (frame) => {
    frames += 1
    if (frame.type === 'D') return takeData(frame)
    endSection()
    if ((frame.type === 'M') !== (frames === 1))
      throw damaged('its manifest is not at its beginning')
    if (frame.type === 'M') checkManifest(frame.payload)
    if (frame.type === 'T') takeTable(frame)
    if (frame.type === 'O') takeObject(frame)
    if (frame.type === 'J') {
      if (hasJobs) throw damaged('its jobs are there twice')
      hasJobs = true
      takesData = true
    }
  }
}

/** Names and columns, from which a restore builds SQL. Throws `ArchiveError`. */
export const tableHead = (payload: Buffer): TableHead => {
  const { name, columns } = parse<Partial<TableHead>>(payload)
  if (typeof name !== 'string' || !isTextList(columns, maxColumns))
    throw damaged('a table has no name or no columns')
  return { name, columns }
}

const checkManifest = (payload: Buffer): void => {
  const { created_at: createdAt, migrations } = parse<Partial<Manifest>>(payload)
  const areMigrations =
    Array.isArray(migrations) &&
    migrations.length <= maxMigrations &&
    migrations.every(
      (each: Partial<Manifest['migrations'][number]> | null) =>
        typeof each?.name === 'string' && typeof each.checksum === 'string',
    )
  if (typeof createdAt !== 'string' || !areMigrations) throw damaged('its manifest is none')
}

const isTextList = (value: unknown, most: number): value is readonly string[] =>
  Array.isArray(value) &&
  value.length <= most &&
  value.every((each: unknown) => typeof each === 'string')
