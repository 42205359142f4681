import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { InstallError, installLocked, moveInto, withStagingFolder } from './npm.mjs'

const minimalMajor = 24
const version = '24.21.0'

/** The registry's packages of Node itself, pinned by their hashes. */
const integrity = {
  'linux-x64':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'linux-arm64':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
}

/**
 * The Node to run with: this one if it is new enough, else the pinned one in `.runtime/`, installed if it is
 * missing.
 */
export const ensureNode = async (root) => {
  if (Number(process.versions.node.split('.')[0]) >= minimalMajor) return process.execPath
  const home = join(root, '.runtime', `node-${version}`)
  const platform = `${process.platform}-${process.arch}`
  const node = join(home, 'node_modules', `node-${platform}`, 'bin', 'node')
  if (!existsSync(node)) await install(root, home, platform)
  return node
}

const install = async (root, home, platform) => {
  if (!integrity[platform])
    throw new InstallError(
      `This is Node ${process.versions.node}, and Outdial needs ${minimalMajor} or newer, ` +
        `which the registry does not have for ${platform}: install it from https://nodejs.org.`,
    )
  process.stderr.write(
    `Bringing Node ${version} into .runtime/ (once; 50 MB; an installed Node ${minimalMajor} needs none)\n`,
  )
  await withStagingFolder(join(root, '.runtime'), async (folder) => {
    writeLock(folder, `node-${platform}`, integrity[platform])
    await installLocked(folder)
    moveInto(folder, home)
  })
}

const writeLock = (folder, name, hash) => {
  const manifest = { name: 'runtime', version: '1.0.0', dependencies: { [name]: version } }
  const entry = {
    version,
    resolved: `https://registry.npmjs.org/${name}/-/${name}-${version}.tgz`,
    integrity: hash,
  }
  const lock = {
    ...manifest,
    lockfileVersion: 3,
    packages: { '': manifest, [`node_modules/${name}`]: entry },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
}
