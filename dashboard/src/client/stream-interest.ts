/** Whose words this tab wants to read: its pages say so, and the tab that holds the browser's stream asks for them. */
const wanted = new Map<symbol, string>()
let onChange: (() => void) | undefined

/** Wants the words of a call, or of `all` live calls, until the returned function is called. */
export const wantWords = (calls: string): (() => void) => {
  const own = Symbol(calls)
  wanted.set(own, calls)
  onChange?.()
  return () => {
    wanted.delete(own)
    onChange?.()
  }
}

/** The ids of calls that pages of this tab watch, or `all` among them. */
export const wantedCalls = (): readonly string[] => [...new Set(wanted.values())]

/** Calls the function when what is wanted changes; one at a time. */
export const onWantedChange = (listener: (() => void) | undefined): void => {
  onChange = listener
}

/** As many as the server takes by their ids. */
const maxCalls = 20

/** What a stream's address asks for; undefined for no words at all. */
export const wordsParameter = (calls: readonly string[]): string | undefined => {
  if (calls.includes('all')) return 'all'
  const ids = [...new Set(calls)].toSorted().slice(0, maxCalls)
  return ids.length === 0 ? undefined : ids.join(',')
}
