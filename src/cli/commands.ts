import { addAgentCommands } from './agent-commands.ts'
import { addAutomationCommands } from './automation-commands.ts'
import { addCallCommands } from './call-commands.ts'
import { addContactCommands } from './contact-commands.ts'
import { addBackupCommands } from './backup-commands.ts'
import { addBatchCommands } from './batch-commands.ts'
import { addDialCommand } from './dial-command.ts'
import { addDncCommands } from './dnc-commands.ts'
import { addDoctorCommand } from './doctor-command.ts'
import { addKeyCommands } from './key-commands.ts'
import { addOrgCommands } from './org-commands.ts'
import type { CommandGroup } from './run-cli.ts'
import { addStartCommand } from './start-command.ts'

/** Every command of the program, in the order of its help. */
export const commandGroups: readonly CommandGroup[] = [
  addStartCommand,
  addDialCommand,
  addBatchCommands,
  addOrgCommands,
  addKeyCommands,
  addAgentCommands,
  addAutomationCommands,
  addCallCommands,
  addContactCommands,
  addDncCommands,
  addDoctorCommand,
  addBackupCommands,
]
