import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { cp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Attack } from '../stage/attack.ts'
import { openSandboxCall } from '../stage/sandbox-call.ts'

/** The content of a release, besides its packages. */
const parts = ['src', 'migrations', 'docs', 'bin', 'deploy', 'package.json', 'README.md', 'LICENSE']

interface LockedPackage {
  readonly dev?: boolean
  readonly devOptional?: boolean
}

/** The product as `npm ci --omit=dev` installs it: it starts and calls without a development package. */
export const productionInstall: Attack = {
  name: 'production-install',
  goal: 'without development packages the product starts and holds a call',
  isLong: true,
  async run(stage) {
    const root = mkdtempSync(join(tmpdir(), 'outdial-attack-install-'))
    try {
      for (const part of parts)
        if (existsSync(join(stage.root, part)))
          await cp(join(stage.root, part), join(root, part), { recursive: true })
      const { installed, left } = await copyPackages(stage.root, root)
      const product = await stage.startAnother({ settings: {}, root })
      const problems: string[] = []
      const status = await openSandboxCall(product)
      if (status !== 'completed') problems.push(`its first call ended ${status}`)
      if (left === 0) problems.push('there were no development packages to leave out')
      const { status: doctor } = await product.run('org', 'list')
      if (doctor !== 0) problems.push(`its command line ended with ${doctor}`)
      await product.stop()
      return { figure: `${installed} packages, ${left} left out, its call ${status}`, problems }
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  },
}

/** The installed packages that package-lock.json does not mark as development packages. */
const copyPackages = async (
  from: string,
  to: string,
): Promise<{ installed: number; left: number }> => {
  const lock = JSON.parse(readFileSync(join(from, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>
  }
  let [installed, left] = [0, 0]
  for (const [path, { dev = false, devOptional = false }] of Object.entries(lock.packages)) {
    if (path === '' || !existsSync(join(from, path))) continue
    if (dev || devOptional) {
      left += 1
      continue
    }
    installed += 1
    await copyFolder(join(from, path), join(to, path))
  }
  return { installed, left }
}

/**
 * Nested packages have their own entries in the lock file. Copied in portions, because the harness also serves the
 * live calls.
 */
const copyFolder = (from: string, to: string): Promise<void> =>
  cp(from, to, {
    recursive: true,
    filter: (source) => !source.slice(from.length).includes('/node_modules'),
  })
