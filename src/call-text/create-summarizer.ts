import { summarize, type Summary, type SummaryInput } from './summarize.ts'

export type Summarizer = (input: SummaryInput, signal: AbortSignal) => Promise<Summary>

/** A server of the OpenAI chat protocol; undefined: there is none. */
interface SummaryServer {
  readonly url: string | undefined
  readonly key: string | undefined
  readonly model: string | undefined
}

/** By the chat server where there is one, else from the words themselves. */
export const createSummarizer = ({ url, key, model }: SummaryServer): Summarizer => {
  if (url === undefined) return (input) => Promise.resolve(summarize(input))
  const settings = { url, ...(key !== undefined && { key }), ...(model !== undefined && { model }) }
  return async (input, signal) => {
    // The SDK takes a tenth of a second to load: not at every start.
    const { createModelSummarizer } = await import('./summarize-with-model.ts')
    return createModelSummarizer(settings)(input, signal)
  }
}
