import type { LazyGroup } from './run-cli.ts'

/** Every command of the program, in the order of its help. Only the command in use is loaded. */
export const commandGroups: readonly LazyGroup[] = [
  {
    help: { 'start [options]': 'run everything in one process' },
    load: async () => (await import('./start-command.ts')).addStartCommand,
  },
  {
    help: { 'dial [options] <number>': 'call a number now' },
    load: async () => (await import('./call/dial-command.ts')).addDialCommand,
  },
  {
    help: { batch: 'many calls at once' },
    load: async () => (await import('./batch/batch-commands.ts')).addBatchCommands,
  },
  {
    help: { org: 'organizations' },
    load: async () => (await import('./org-commands.ts')).addOrgCommands,
  },
  {
    help: { key: 'API keys' },
    load: async () => (await import('./key-commands.ts')).addKeyCommands,
  },
  {
    help: { trunk: 'ways to the telephone network' },
    load: async () => (await import('./trunk/trunk-commands.ts')).addTrunkCommands,
  },
  {
    help: { number: 'caller IDs: the numbers that callees see' },
    load: async () => (await import('./number/number-commands.ts')).addNumberCommands,
  },
  {
    help: { provider: 'speech and model providers' },
    load: async () => (await import('./provider/provider-commands.ts')).addProviderCommands,
  },
  {
    help: { admin: 'people who sign in to the dashboard' },
    load: async () => (await import('./admin-commands.ts')).addAdminCommands,
  },
  {
    help: { agent: 'AI voice agents' },
    load: async () => (await import('./agent/agent-commands.ts')).addAgentCommands,
  },
  {
    help: { automation: 'Automations: calls, waits and branches for one contact at a time' },
    load: async () => (await import('./automation/automation-commands.ts')).addAutomationCommands,
  },
  {
    help: { call: 'calls, however they were made' },
    load: async () => (await import('./call/call-commands.ts')).addCallCommands,
  },
  {
    help: { 'calls-back': 'calls of people to our numbers' },
    load: async () => (await import('./calls-back/calls-back-commands.ts')).addCallsBackCommands,
  },
  {
    help: { contact: 'people who are called' },
    load: async () => (await import('./contact/contact-commands.ts')).addContactCommands,
  },
  {
    help: { run: 'runs of Automations' },
    load: async () => (await import('./automation/run-commands.ts')).addRunCommands,
  },
  {
    help: { recording: 'recordings of calls' },
    load: async () => (await import('./recording-commands.ts')).addRecordingCommands,
  },
  {
    help: { dnc: 'the do-not-call list' },
    load: async () => (await import('./dnc-commands.ts')).addDncCommands,
  },
  {
    help: { 'usage [options]': 'calls, minutes and cost by day, agent or key' },
    load: async () => (await import('./usage/usage-commands.ts')).addUsageCommands,
  },
  {
    help: { 'doctor [options]': 'check database, disk, trunk, NAT, AI provider, clock and ports' },
    load: async () => (await import('./doctor-command.ts')).addDoctorCommand,
  },
  {
    help: { 'media-secret': 'the secret that signs download URLs of recordings' },
    load: async () => (await import('./media-secret-commands.ts')).addMediaSecretCommands,
  },
  {
    help: {
      'backup [options] <file>': 'write everything to one file, while the service runs',
      'restore [options] <file>': 'put a backup into an empty installation',
      'migrate [options]': 'bring the database up to this version',
    },
    load: async () => (await import('./backup-commands.ts')).addBackupCommands,
  },
]
