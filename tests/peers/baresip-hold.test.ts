// Runs beside others: it waits for most of its 10 s.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { silentLogger } from '../../src/runtime/logger.ts'
import { defaultTiming } from '../../src/sip/transaction/transaction-timing.ts'
import { isOnHold, type NegotiatedMedia } from '../../src/telephony/carrier.ts'
import { createSipCarrier } from '../../src/telephony/sip-carrier.ts'
import { parseTrunkUri } from '../../src/telephony/trunk-uri.ts'
import { missingPeer } from '../support/peers.ts'
import { startAgent } from '../support/sip/test-agents.ts'
import { startBaresip } from './baresip-phone.ts'
import { temporaryFolder } from './peer-program.ts'

const reason = missingPeer('baresip') ?? missingPeer('openssl')
const skip = reason === undefined ? {} : { skip: reason }
const number = '+12025550142'

for (const transport of ['udp', 'tcp'] as const)
  test(
    `baresip puts us on hold over ${transport}, takes us back, and hangs up`,
    skip,
    async (t) => {
      const phone = await startBaresip(temporaryFolder(t, 'baresip'), { number })
      t.after(async () => {
        phone.child.kill()
        if (phone.child.exitCode === null) await once(phone.child, 'exit')
      })
      const userAgent = await startAgent(t, { timing: defaultTiming, listensOnTcp: true })
      const trunk = parseTrunkUri(`sip:127.0.0.1:${phone.port};transport=${transport}`)
      const carrier = createSipCarrier({ userAgent, trunk, logger: silentLogger })
      const outcome = await carrier.dial(
        {
          callId: '0198f000-0000-7000-8000-000000000001',
          to: number,
          callerId: '+12025550199',
          ringTimeoutMs: 60_000,
          localMedia: { address: '127.0.0.1', port: 40_000 },
          mayInvite: () => true,
        },
        new AbortController().signal,
      )
      if (outcome.kind !== 'answered') assert.fail(`${outcome.failure.reason}\n${phone.output()}`)
      const { leg } = outcome
      const change = (): Promise<NegotiatedMedia> =>
        new Promise((resolve) => leg.onMediaChange(resolve))
      for (const [command, isHeld] of [
        ['hold', true],
        ['resume', false],
      ] as const) {
        const changed = change()
        await phone.command(command)
        assert.equal(isOnHold(await changed), isHeld, phone.output())
      }
      await phone.command('hangup')
      assert.deepEqual(await leg.ended, { by: 'callee' })
    },
  )
