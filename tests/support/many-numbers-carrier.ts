import { runJournaledCarrier } from './telephony/journaled-carrier.ts'
import { personaOfMany } from './many-numbers.ts'

/** The sandbox carrier with a hundred numbers for each persona: `node many-numbers-carrier.ts PORT JOURNAL`. */
await runJournaledCarrier('many-numbers-carrier.ts', personaOfMany)
