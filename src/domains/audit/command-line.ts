import { userInfo } from 'node:os'
import type { Actor } from './record-change.ts'

/** Who runs a command: the user of the machine. */
export const commandLine = (): Actor => ({ kind: 'command_line', name: userInfo().username })
