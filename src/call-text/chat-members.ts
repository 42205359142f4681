import { BoundedMap } from '../runtime/bounded-map.ts'

/**
 * What chat servers take differs: OpenAI's present models refuse `max_tokens`, its reasoning models refuse
 * `temperature`, others know no `max_completion_tokens` or `stream_options`. A refusal names the member; the request
 * is sent again without it, and so are later ones to the same server and model.
 */
type Body = Readonly<Record<string, unknown>>

interface Adaptation {
  readonly member: string
  /** How else the server may want it. */
  readonly apply: (body: Body) => Body
}

const without = (body: Body, member: string): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== member))

const renamed =
  (from: string, to: string) =>
  (body: Body): Body => ({ ...without(body, from), [to]: body[from] })

const adaptations: readonly Adaptation[] = [
  { member: 'max_completion_tokens', apply: renamed('max_completion_tokens', 'max_tokens') },
  { member: 'temperature', apply: (body) => without(body, 'temperature') },
  { member: 'stream_options', apply: (body) => without(body, 'stream_options') },
  { member: 'parallel_tool_calls', apply: (body) => without(body, 'parallel_tool_calls') },
]

/** Servers and models of one installation; older ones are learned again. */
const maxServers = 64
/** A server may have been changed since. */
const maxAgeMs = 60 * 60_000
/** One refusal for each adaptation, and the answer. */
const maxAttempts = adaptations.length + 1
/** A refusal is a sentence or two; of longer ones the beginning counts. */
const maxRefusalBytes = 64 * 1024

const learned = new BoundedMap<string, ReadonlySet<string>>({
  maxSize: maxServers,
  age: { maxMs: maxAgeMs, clock: { monotonicMs: () => performance.now() } },
})

/** `fetch` for chat completions that adapts the request to the server and remembers what it takes. */
export const withLearnedMembers =
  (request: typeof fetch): typeof fetch =>
  async (input, init) => {
    const body = bodyOf(init?.body)
    if (!body) return request(input, init)
    const server = JSON.stringify([
      input instanceof Request ? input.url : String(input),
      body['model'],
    ])
    const refused = new Set(learned.get(server))
    for (let attempt = 1; ; attempt += 1) {
      const sent = adapted(body, refused)
      const response = await request(input, { ...init, body: JSON.stringify(sent) })
      if (!isRefusal(response.status)) return response
      const text = await beginningOf(response)
      const member = refusedMember(text, sent)
      if (member === undefined || attempt >= maxAttempts)
        return new Response(text, { status: response.status, headers: response.headers })
      refused.add(member)
      learned.set(server, refused)
    }
  }

const isRefusal = (status: number): boolean => status === 400 || status === 422

const bodyOf = (body: unknown): Body | undefined => {
  if (typeof body !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? current({ ...value })
      : undefined
  } catch {
    return undefined
  }
}

/** With the present name of the limit, which the newest models insist on. */
const current = (body: Body): Body =>
  'max_tokens' in body ? renamed('max_tokens', 'max_completion_tokens')(body) : body

const adapted = (body: Body, refused: ReadonlySet<string>): Body =>
  adaptations
    .filter(({ member }) => refused.has(member) && member in body)
    .reduce((changed, { apply }) => apply(changed), body)

const refusedMember = (text: string, sent: Body): string | undefined =>
  adaptations.find(({ member }) => member in sent && text.includes(member))?.member

const beginningOf = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    bytes += chunk.length
    if (bytes > maxRefusalBytes) break
  }
  return text
}
