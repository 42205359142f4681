import type { ShownAgent } from '../../domains/agents/show-agent.ts'
import { facts, hanging, type Lines } from '../terminal/output.ts'

/** For people: its name, its words and its tools. */
export const describeAgent = (agent: ShownAgent, width?: number): Lines => [
  ...facts(
    [
      ['id', agent.id],
      ['organization', agent.organization_id],
      ['name', agent.name],
      ['description', agent.description],
      ['language', agent.language],
      ['version', String(agent.version)],
      ['created', agent.created_at],
      ['published', agent.updated_at],
      ['archived', agent.archived_at],
      ['engine', agent.engine && describeEngine(agent.engine)],
      ['voice', agent.voice],
      ['caller IDs', agent.caller_ids?.join(', ')],
      ['lasts', `${agent.max_duration_seconds} s at most`],
      ['voicemail', agent.voicemail],
      ['recording', agent.recording],
      ['turn taking', agent.turn_taking && describeMembers(agent.turn_taking)],
    ],
    width,
  ),
  ...section('greeting', textLines(agent.greeting, width)),
  ...section('prompt', textLines(agent.prompt, width)),
  ...section('voicemail message', textLines(agent.voicemail_message ?? '', width)),
  ...section(
    'outcomes',
    (agent.outcomes ?? []).flatMap(({ slug, description }) =>
      hanging(`  ${slug}  `, description, width),
    ),
  ),
  ...section(
    'tools',
    (agent.tools ?? []).flatMap((tool) => describeTool(tool, width)),
  ),
]

const describeEngine = ({ kind, ...chosen }: NonNullable<ShownAgent['engine']>): string =>
  [kind, describeMembers(chosen)].filter((part) => part !== '').join('; ')

const describeMembers = (chosen: object): string =>
  Object.entries(chosen)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${[value].flat().join(', ')}`)
    .join('; ')

const section = (title: string, lines: Lines): Lines =>
  lines.length === 0 ? [] : ['', title, ...lines]

const textLines = (text: string, width?: number): Lines =>
  text === '' ? [] : text.split('\n').flatMap((line) => hanging('  ', line, width))

const describeTool = (tool: NonNullable<ShownAgent['tools']>[number], width?: number): Lines => {
  if ('builtin' in tool) return hanging(`  ${tool.builtin}  `, `to ${tool.to}`, width)
  const headers = Object.entries(tool.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
  const request = [`${tool.method} ${tool.url}`, ...headers].join(', ')
  return hanging(`  ${tool.name}  `, `${tool.description} ${request}`, width)
}
