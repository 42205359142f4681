import { ProviderError, withinLimit } from '../provider-error.ts'
import type { Lineup, LineupMember } from './lineup.ts'

/**
 * A stream of the first provider that begins one. A stream that breaks later breaks for its consumer too, who knows what
 * the callee has heard; the next stream comes from the next provider.
 * @param patienceMs how long a provider may take to begin while another one is left
 */
export async function* streamOfFirst<T, Part>(
  lineup: Lineup<T>,
  open: (provider: T, signal: AbortSignal) => AsyncIterable<Part>,
  options: { readonly patienceMs: number; readonly timeoutCode: string },
  signal: AbortSignal,
): AsyncGenerator<Part> {
  const begin = async (member: LineupMember<T>, isLast: boolean) => {
    const giveUp = new AbortController()
    const parts = open(member.provider, AbortSignal.any([signal, giveUp.signal]))[
      Symbol.asyncIterator
    ]()
    try {
      const first = parts.next()
      const { patienceMs, timeoutCode } = options
      const next = await (isLast ? first : withinLimit(first, patienceMs, timeoutCode))
      return { member, parts, next, giveUp }
    } catch (error) {
      giveUp.abort()
      throw error
    }
  }

  const { member, parts, next: first, giveUp } = await lineup.run(begin, signal)
  try {
    for (let next = first; !next.done; next = await parts.next()) yield next.value
  } catch (error) {
    if (error instanceof ProviderError && !signal.aborted) lineup.failed(member, error)
    throw error
  } finally {
    giveUp.abort()
    // Its own clean-up needs no waiting.
    void parts.return?.(undefined)?.catch?.(() => undefined)
  }
}
