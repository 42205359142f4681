import type { LazyGroup } from './run-cli.ts'

/** Every command of the program, in the order of its help. Only what a command line uses is loaded. */
export const commandGroups: readonly LazyGroup[] = [
  { names: ['start'], load: async () => (await import('./start-command.ts')).addStartCommand },
  { names: ['dial'], load: async () => (await import('./dial-command.ts')).addDialCommand },
  { names: ['batch'], load: async () => (await import('./batch-commands.ts')).addBatchCommands },
  { names: ['org'], load: async () => (await import('./org-commands.ts')).addOrgCommands },
  { names: ['key'], load: async () => (await import('./key-commands.ts')).addKeyCommands },
  { names: ['agent'], load: async () => (await import('./agent-commands.ts')).addAgentCommands },
  {
    names: ['automation'],
    load: async () => (await import('./automation-commands.ts')).addAutomationCommands,
  },
  { names: ['call'], load: async () => (await import('./call-commands.ts')).addCallCommands },
  {
    names: ['contact'],
    load: async () => (await import('./contact-commands.ts')).addContactCommands,
  },
  { names: ['run'], load: async () => (await import('./run-commands.ts')).addRunCommands },
  {
    names: ['recording'],
    load: async () => (await import('./recording-commands.ts')).addRecordingCommands,
  },
  { names: ['dnc'], load: async () => (await import('./dnc-commands.ts')).addDncCommands },
  { names: ['doctor'], load: async () => (await import('./doctor-command.ts')).addDoctorCommand },
  {
    names: ['media-secret'],
    load: async () => (await import('./media-secret-commands.ts')).addMediaSecretCommands,
  },
  {
    names: ['backup', 'restore', 'migrate'],
    load: async () => (await import('./backup-commands.ts')).addBackupCommands,
  },
]
