import type { Setting } from '../src/config/setting.ts'
import { settings, settingsOf } from '../src/config/settings.ts'

const envHeading = `# Settings of Outdial. A copy named .env is read from the folder in which Outdial is started; what the environment
# says goes before it. Take the # from a line to set it.
`

/** `.env.example`: every setting, commented out, with its default. */
export const envExample = (): string =>
  [
    envHeading,
    ...settingsOf(settings).map((entry) => {
      const { name } = entry
      const shown = shownDefault(entry)
      // A default described in words is not a value.
      return shown.includes(' ')
        ? `# ${entry.meaning} Default: ${shown}.\n#${name}=\n`
        : `# ${entry.meaning}\n#${name}=${shown}\n`
    }),
  ].join('\n')

/** The Markdown table of docs/settings.md. */
export const settingsTable = (): string =>
  [
    '| Name | Meaning | Default |',
    '|---|---|---|',
    ...settingsOf(settings).map((entry) => {
      const { name } = entry
      const names = entry.secret ? `\`${name}\` · \`${name}_FILE\`` : `\`${name}\``
      const shown = shownDefault(entry)
      return `| ${names} | ${entry.meaning.replaceAll('|', '\\|')} | ${shown === '' ? '–' : `\`${shown}\``} |`
    }),
    '',
  ].join('\n')

/** A setting's default in the documents. */
const shownDefault = (entry: Setting<unknown>): string => {
  if (entry.shown !== undefined) return entry.shown
  const parsed = entry.schema.safeParse(undefined)
  if (!parsed.success || parsed.data === undefined) return ''
  const { data } = parsed
  if (typeof data === 'object' && data !== null)
    return 'min' in data && 'max' in data ? `${String(data.min)}-${String(data.max)}` : ''
  return typeof data === 'string' || typeof data === 'number' ? String(data) : ''
}
