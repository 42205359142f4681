import { Agent, get } from 'node:http'

/** No machine is that busy with something else. */
const beyondDoubtMs = 1_500

/** How long the product was busy with what was just sent to it: the time /healthz takes more than it does at rest. */
export const createCostMeter = (port: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: '/healthz', agent }, (response) => {
        response.resume()
        response.on('end', resolve)
        response.on('error', reject)
      }).on('error', reject)
    })
  // The first answer may overtake the message, the second cannot.
  const time = async (send: () => Promise<void>): Promise<number> => {
    const startedMs = performance.now()
    await send()
    await ask()
    await ask()
    return performance.now() - startedMs
  }
  return {
    /** The smallest of some tries: a busy machine makes some slow, a costly message all. */
    async costMs(
      send: () => Promise<void>,
      { goodEnoughMs, tries = 8 }: { goodEnoughMs: number; tries?: number },
    ): Promise<number> {
      let best = Infinity
      for (let round = 0; round < tries && best > goodEnoughMs; round += 1) {
        best = Math.min(best, await time(send))
        if (best > beyondDoubtMs) break
      }
      return best
    },
    close: () => agent.destroy(),
  }
}
