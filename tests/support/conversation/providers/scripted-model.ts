import { startProvider, type ScriptedProvider } from './scripted-provider.ts'

interface ModelScript {
  readonly reply: string
  /** How long the first words take. */
  readonly firstMs?: number
}

/** A chat model that always gives the same reply, word by word. */
export const startModel = ({ reply, firstMs = 0 }: ModelScript): Promise<ScriptedProvider> =>
  startProvider({
    answer(_, body, response, fault) {
      if (fault === 'wrong_format')
        return void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>')
      const isContinued = body.includes('Continue where your last words end')
      return void setTimeout(() => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const send = (delta: object, finish_reason: string | null = null): void =>
          void response.write(
            `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
          )
        const words = (isContinued ? 'And that is all.' : reply).split(/(?<= )/)
        if (fault === 'cut') {
          // A whole sentence, and the beginning of the next one.
          for (const word of words.slice(0, -2)) send({ content: word })
          return setTimeout(() => response.destroy(), 20)
        }
        for (const word of words) send({ content: word })
        send({}, 'stop')
        return response.end('data: [DONE]\n\n')
      }, firstMs)
    },
  })

export const modelSettings = (name: string, { url }: ScriptedProvider) => ({
  name,
  id: `${name} ${url}`,
  kind: 'openai-chat' as const,
  key: 'secret-key',
  url: `${url}/v1`,
})
