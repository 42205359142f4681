import { runJournaledCarrier } from './journaled-carrier.ts'

/** The sandbox carrier as a process of its own: `node sandbox-carrier-main.ts PORT JOURNAL`. */
await runJournaledCarrier('sandbox-carrier-main.ts')
