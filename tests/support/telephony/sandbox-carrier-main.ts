import { runJournaledCarrier } from './journaled-carrier.ts'

/** The sandbox carrier as its own process: `node sandbox-carrier-main.ts PORT JOURNAL`. */
await runJournaledCarrier('sandbox-carrier-main.ts')
