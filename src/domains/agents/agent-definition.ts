import { z } from 'zod'
import { uniqueItems } from '../../contract/duplicates.ts'
import { normalizedOutcomes } from '../../contract/states.ts'
import { isStorableText, trimWhiteSpace } from '../../contract/text.ts'
import { recordingChoices } from '../organizations/recording-choice.ts'
import { checkFile } from '../organizations/invalid-file.ts'
import { agentToolSchema, hiddenValue } from './agent-tools.ts'
import { isHidden } from './hidden-values.ts'
import { templateProblems } from './template.ts'

const storable = (schema: z.ZodString) =>
  schema.refine(isStorableText, 'It holds a NUL or half a surrogate pair.')

const text = (maxLength: number) =>
  storable(z.string().overwrite(trimWhiteSpace).min(1).max(maxLength))

/** A text that may name the contact's fields. */
const template = (maxLength: number) =>
  text(maxLength).check((context) => {
    for (const message of templateProblems(context.value)) {
      context.issues.push({ code: 'custom', message, input: context.value, continue: true })
    }
  })

const language = z
  .string()
  .refine(
    (tag) => canonicalLanguage(tag) !== undefined,
    'It must be a BCP 47 language tag, such as "en-US".',
  )
  .overwrite((tag) => canonicalLanguage(tag) ?? tag)
  .default('en-US')

export const canonicalLanguage = (tag: string): string | undefined => {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const memberOf =
  (name: string) =>
  (item: unknown): unknown =>
    isObject(item) ? Reflect.get(item, name) : undefined

/**
 * For rules over several members: they run even if other members are wrong, so that one refusal lists every
 * problem.
 */
const besideOthers = { when: ({ value }: { value: unknown }) => isObject(value) }

const outcomes = uniqueItems(
  z
    .array(
      z.strictObject({
        slug: z
          .string()
          .regex(
            /^[a-z][a-z0-9_]{0,63}$/,
            'It must begin with a small letter, then small letters, digits or "_", at most 64 in all.',
          )
          .refine(
            (slug) => !normalizedOutcomes.some((outcome) => outcome === slug),
            'Every agent has this outcome already.',
          ),
        description: text(500),
      }),
    )
    .max(50),
  { keyOf: memberOf('slug'), path: 'slug', message: 'Another outcome has this slug.' },
)

/** What an agent asks of a realtime server; each server has some of it. */
const realtimeTuning = {
  transcription_model: text(200).optional(),
  turn_detection: z.enum(['server_vad', 'semantic_vad']).optional(),
  eagerness: z.enum(['low', 'medium', 'high', 'auto']).optional(),
  noise_reduction: z.enum(['near_field', 'far_field']).optional(),
  speed: z.number().min(0.25).max(1.5).optional(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
  keywords: z.array(text(100)).min(1).max(100).optional(),
}

/** Providers in the order of failover; each further one is tried when those before it fail. */
const providerNames = z
  .array(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'It must be the name of a provider.'))
  .min(1)
  .max(5)
  .refine((names) => new Set(names).size === names.length, 'It names a provider twice.')
  .optional()

const engine = z.strictObject({
  kind: z.enum(['sandbox', 'realtime', 'cascade']),
  model: text(200).optional(),
  voice: text(200).optional(),
  ...realtimeTuning,
  url: z
    .url({ protocol: /^(wss?|https?)$/, error: 'It must be a URL of ws, wss, http or https.' })
    .max(2048)
    .refine((url) => !isHidden(url), hiddenValue)
    .optional(),
  stt: providerNames,
  llm: providerNames,
  tts: providerNames,
})

const engineOfServer = engine
  .refine(
    ({ kind, url }) => kind !== 'cascade' || typeof url !== 'string' || !/^wss?:/i.test(url),
    {
      path: ['url'],
      message: 'The cascade engine needs a URL of http or https.',
      ...besideOthers,
    },
  )
  .check((context) => {
    if (context.value.kind === 'realtime') return
    for (const member of Object.keys(realtimeTuning)) {
      if (Reflect.get(context.value, member) === undefined) continue
      const message = 'Only the realtime engine has this.'
      context.issues.push({ code: 'custom', message, path: [member], input: context.value })
    }
  })

const engineOfProviders = engineOfServer.refine(
  ({ kind, url, stt, llm, tts }) =>
    (stt ?? llm ?? tts) === undefined || (kind === 'cascade' && url === undefined),
  {
    message: 'Only a cascade without a URL of its own names providers.',
    ...besideOthers,
  },
)

const tools = uniqueItems(
  z.array(agentToolSchema).max(50),
  { keyOf: memberOf('name'), path: 'name', message: 'Another tool has this name.' },
  { keyOf: memberOf('builtin'), path: 'builtin', message: 'It is configured already.' },
)

/** More numbers than an agent needs to be of every region that it calls. */
const maxCallerIds = 100

const callerIds = uniqueItems(
  z
    .array(
      z
        .string()
        .regex(/^\+[1-9][0-9]{7,14}$/, 'It must be a number in E.164 form, such as +12025550123.'),
    )
    .min(1)
    .max(maxCallerIds),
  { keyOf: (number) => number, message: 'It stands in the list already.' },
)
/** Who speaks when; every member has a usual value. */
const turnTaking = z.strictObject({
  first_words: z.enum(['agent', 'wait', 'callee']).optional(),
  patience: z.enum(['short', 'normal', 'long']).optional(),
  interruption_sensitivity: z.enum(['low', 'normal', 'high']).optional(),
  backchannel_words: z.array(text(50)).max(50).optional(),
  detection: z.enum(['outdial', 'engine']).optional(),
})

const agentSchema = z
  .strictObject({
    name: text(200),
    description: text(1000).optional(),
    language,
    greeting: template(2000),
    prompt: template(50_000),
    voice: text(200).optional(),
    max_duration_seconds: z.int().min(10).max(3600).default(900),
    voicemail: z.enum(['hang_up', 'leave_message']),
    voicemail_message: template(2000).optional(),
    outcomes: outcomes.optional(),
    tools: tools.optional(),
    engine: engineOfProviders.optional(),
    recording: z.enum(recordingChoices).optional(),
    caller_ids: callerIds.optional(),
    turn_taking: turnTaking.optional(),
  })
  .refine((agent) => agent.voicemail !== 'leave_message' || agent.voicemail_message !== undefined, {
    path: ['voicemail_message'],
    message: 'It is required where voicemail is "leave_message".',
    ...besideOthers,
  })

/** What an agent says and does, as stored and pinned by calls: the agent file with its defaults filled in. */
export type AgentDefinition = z.output<typeof agentSchema>

/** Checks an agent file; throws `InvalidFileError` with a path and a sentence for each problem. */
export const checkAgentFile = (file: unknown): AgentDefinition => checkFile(agentSchema, file)

/** The slugs from which the agent chooses the outcome of a call: the common ones, then its own. */
export const outcomesOf = (agent: Pick<AgentDefinition, 'outcomes'>): string[] => [
  ...normalizedOutcomes,
  ...(agent.outcomes ?? []).map(({ slug }) => slug),
]
