import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Attack } from '../stage/attack.ts'
import type { Stage } from '../stage/stage.ts'

const ownUser = 'outdial'
const startTimeoutMs = 60_000

/** Started as root, the product runs its database as a separate user, or refuses. */
export const startedAsRoot: Attack = {
  name: 'started-as-root',
  goal: 'as root PostgreSQL runs as our own user without a shell, else the start is refused with a remedy',
  isLong: true,
  async run(stage) {
    if (process.getuid?.() !== 0) return { figure: 'not root: nothing to try', problems: [] }
    const problems: string[] = []
    const { OUTDIAL_CALLER_ID: _caller, OUTDIAL_SIP_TRUNK: _trunk, ...settings } = stage.settings
    const product = await stage.startAnother({ settings, hasOwnCluster: true })
    const servers = processesBelow(product.pid).filter(({ name }) => name.startsWith('postgres'))
    const users = new Set(servers.map(({ uid }) => nameOf(uid)))
    if (servers.length === 0) problems.push('no PostgreSQL was found')
    if (users.size !== 1 || !users.has(ownUser))
      problems.push(`PostgreSQL runs as ${[...users].join(', ')}`)
    const shell = passwordEntries().find(([name]) => name === ownUser)?.[6] ?? ''
    if (!/nologin|false$/.test(shell)) problems.push(`${ownUser} may sign in with ${shell}`)
    const folders = foldersOf(product.home.data)
    for (const folder of folders)
      if ((statSync(folder).mode & 0o007) !== 0) problems.push(`others may enter ${folder}`)
    await product.stop()
    const refusal = await startWithoutUser(stage)
    problems.push(...refusal.problems)
    return {
      figure: `${servers.length} processes of ${[...users].join(', ')}, ${refusal.figure}`,
      problems,
    }
  },
}

interface Process {
  readonly pid: number
  readonly name: string
  readonly uid: number
}

const processesBelow = (root: number): Process[] => {
  const all = readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return []
    try {
      const status = readFileSync(`/proc/${entry}/status`, 'utf8')
      const field = (name: string): string =>
        new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? ''
      const [parent, uid] = [Number(field('PPid')), Number(field('Uid'))]
      return [{ pid: Number(entry), name: field('Name'), uid, parent }]
    } catch {
      return []
    }
  })
  const found = new Set([root])
  for (let before = 0; before !== found.size;) {
    before = found.size
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid)
  }
  return all.filter(({ pid }) => found.has(pid))
}

const passwordEntries = (): string[][] =>
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))

const nameOf = (uid: number): string =>
  passwordEntries().find(([, , id]) => id === String(uid))?.[0] ?? String(uid)

/** The database's processes and files, wherever they are. */
const foldersOf = (data: string): string[] =>
  [data, join(data, 'postgres')].filter((folder) => statSync(folder, { throwIfNoEntry: false }))

/** On a machine without that user and without a command to create it, but with other users. */
const startWithoutUser = async ({
  root,
  settings,
}: Stage): Promise<{ figure: string; problems: string[] }> => {
  if (spawnSync('unshare', ['-m', 'true']).status !== 0)
    return { figure: 'no mount namespace to try a refusal in', problems: [] }
  const folder = mkdtempSync(join(tmpdir(), 'outdial-attack-root-'))
  try {
    const passwd = join(folder, 'passwd')
    const others = passwordEntries().filter(([name]) => name !== ownUser)
    writeFileSync(passwd, others.map((entry) => entry.join(':')).join('\n'))
    const script = 'set -e; mount --bind "$1" /etc/passwd; exec env PATH=/nowhere "$2" "$3" start'
    const words = [passwd, process.execPath, join(root, 'src/main.ts')]
    const { status, stderr } = await runToEnd(
      'unshare',
      ['-m', 'sh', '-c', script, 'sh', ...words],
      {
        PATH: process.env['PATH'],
        ...withoutDatabase(settings),
        OUTDIAL_DATA: join(folder, 'data'),
      },
    )
    const isReported = status === 1 && /useradd|normal user|DATABASE_URL/.test(stderr)
    return {
      figure: 'refused without that user',
      problems: isReported
        ? []
        : [`without that user the start ended with ${status}: ${stderr.slice(-300)}`],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const runToEnd = (
  command: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly status: number | null; readonly stderr: string }> =>
  new Promise((resolve) => {
    const child = execFile(
      command,
      words,
      { env, timeout: startTimeoutMs },
      (_error, _out, stderr) => resolve({ status: child.exitCode, stderr }),
    )
  })

const withoutDatabase = (settings: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => name !== 'DATABASE_URL'))
