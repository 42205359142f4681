/**
 * `fetch` that converts responses to streamed chat completions into what the SDK reads. Small servers often send
 * the whole response as one JSON document, or end a stream without a finish reason.
 */
export const withWholeStreams =
  (request: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await request(input, init)
    if (!response.ok || !response.body) return response
    const isDocument = /^application\/json\b/i.test(response.headers.get('content-type') ?? '')
    const body = isDocument
      ? streamOf(await response.text())
      : response.body.pipeThrough(finishedStream())
    return new Response(body, {
      status: response.status,
      headers: { 'content-type': 'text/event-stream' },
    })
  }

interface Completion {
  readonly choices?: readonly {
    readonly message?: {
      readonly content?: unknown
      readonly refusal?: unknown
      readonly tool_calls?: readonly object[]
    }
    readonly finish_reason?: unknown
  }[]
  readonly error?: unknown
}

const streamOf = (text: string): string => {
  const completion = parse(text)
  const [choice] = completion?.choices ?? []
  if (!completion || !choice?.message) return completion ? eventOf(completion) : text
  const { message } = choice
  const delta = { ...message, tool_calls: message.tool_calls?.map(withIndex) }
  const finish_reason = choice.finish_reason ?? 'stop'
  return eventOf({ ...completion, choices: [{ index: 0, delta, finish_reason }] })
}

const withIndex = (call: object, index: number): object => ({ index, ...call })

const parse = (text: string): Completion | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const eventOf = (value: object): string => `data: ${JSON.stringify(value)}\n\n`

/** The longest choice that only ends a reply; choices with words are shorter. */
const maxTailLength = 64 * 1024

/** Adds a finish reason before `[DONE]` or the end, where a stream has choices and none gives one. */
const finishedStream = (): TransformStream<Uint8Array, Uint8Array> => {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let line = ''
  let hasChoices = false
  let isFinished = false
  const ending = eventOf({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })

  const passLine = (whole: string): string => {
    if (whole.startsWith('data:')) {
      hasChoices ||= whole.includes('"choices"')
      isFinished ||= /"finish_reason"\s*:\s*"/.test(whole) || whole.includes('"error"')
      if (whole.slice(5).trim() === '[DONE]' && hasChoices && !isFinished) {
        isFinished = true
        return `${ending}${whole}`
      }
    }
    return whole
  }

  return new TransformStream({
    transform(bytes, controller) {
      line += decoder.decode(bytes, { stream: true })
      const lines = line.split(/(?<=\n)/)
      line = line.endsWith('\n') || line.length > maxTailLength ? '' : (lines.pop() ?? '')
      const passed = lines.map(passLine).join('')
      if (passed !== '') controller.enqueue(encoder.encode(passed))
    },
    flush(controller) {
      const rest = passLine(line + decoder.decode())
      const end = hasChoices && !isFinished ? `\n\n${ending}` : ''
      if (rest !== '' || end !== '') controller.enqueue(encoder.encode(rest + end))
    },
  })
}
