import { BoundedMap } from '../../../runtime/bounded-map.ts'

/** When the callee spoke, as the server reports it or as the arrival of its report tells. */
export interface ReportedSpeech {
  /** Speech began. Returns its time in the audio of this session. */
  started(itemId: string, reportedMs: unknown, heardMs: number): number
  /** Speech ended. Returns its time. */
  stopped(reportedMs: unknown, heardMs: number): number
  /** The words of this speech arrived. Returns when it began. */
  takeStart(itemId: string, heardMs: number): number
}

/** Speech reported by the server is remembered until its words arrive. */
const maxStarts = 32
/** A server hears speech for about this long before it reports it. */
const detectionMs = 300
/** A server's clock may run ahead of ours by one message of audio. */
const aheadMs = 200
/** As much audio as a session hears again at its beginning, and a slow detector. */
const longestLagMs = 10_000

/** @param clock `arrival`: the server's times count from something else than the audio that it heard */
export const createReportedSpeech = (clock: 'session' | 'arrival'): ReportedSpeech => {
  const starts = new BoundedMap<string, number>({ maxSize: maxStarts })
  let lastStopMs = 0

  const timeOf = (reportedMs: unknown, heardMs: number, lagMs: number): number => {
    const isPlausible =
      clock === 'session' &&
      typeof reportedMs === 'number' &&
      reportedMs <= heardMs + aheadMs &&
      reportedMs >= heardMs - longestLagMs
    return isPlausible ? Math.max(0, reportedMs) : Math.max(lastStopMs, heardMs - lagMs)
  }

  return {
    started(itemId, reportedMs, heardMs) {
      const atMs = timeOf(reportedMs, heardMs, detectionMs)
      starts.set(itemId, atMs)
      return atMs
    },
    stopped(reportedMs, heardMs) {
      lastStopMs = timeOf(reportedMs, heardMs, 0)
      return lastStopMs
    },
    takeStart(itemId, heardMs) {
      const atMs = starts.get(itemId) ?? heardMs
      starts.delete(itemId)
      return atMs
    },
  }
}
