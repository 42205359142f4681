import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A peer program in its own folder; it ends with the test. */
export interface PeerProgram {
  readonly folder: string
  /** What it printed so far, for messages of failed tests. */
  readonly output: () => string
  readonly child: ChildProcess
}

/** A new empty folder that is removed after the test. */
export const temporaryFolder = (context: TestContext, name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `outdial-${name}-`))
  context.after(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** Starts a program in the foreground of its folder. */
export const startProgram = (
  context: TestContext,
  command: string,
  parameters: readonly string[],
  folder: string,
): PeerProgram => {
  const child = spawn(command, parameters, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  const collect = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-20_000)
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const ended = once(child, 'exit')
  context.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      const patience = setTimeout(() => child.kill('SIGKILL'), 5000)
      await ended
      clearTimeout(patience)
    }
  })
  return { folder, output: () => printed, child }
}
