// Holds a call from behind a NAT that forgets a silent binding, in real time and without a message in the dialog, and
// proves that the callee's BYE is heard: `npm run outage nat [-- --minutes 10] [--binding 60]` (seconds). It takes root,
// ip, nft, Kamailio and openssl. Exit status 1 if the BYE was not heard.
import { parseArgs } from 'node:util'
import { test } from 'node:test'
import { callThroughNat, missingNatCall } from '../peers/nat-call.ts'

const usage = 'usage: npm run outage nat -- [--minutes N] [--binding SECONDS]'
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    binding: { type: 'string', default: '60' },
  },
})
const [minutes, bindingSeconds] = [Number(values.minutes), Number(values.binding)]
const missing = missingNatCall()
const problem =
  minutes > 0 && minutes <= 120 && Number.isInteger(bindingSeconds) && bindingSeconds > 0
    ? missing && `This cannot run here: ${missing}.`
    : usage

const play = async (context: Parameters<typeof callThroughNat>[0]): Promise<void> => {
  const { end, contact } = await callThroughNat(context, {
    bindingSeconds,
    talkMs: minutes * 60_000,
  })
  const ended = await end.ask<unknown>({ do: 'ended', waitMs: 60_000 })
  const isHeard = (ended as { by?: unknown }).by === 'remote'
  console.log(`  Contact outside: ${contact}`)
  console.log(
    `outage nat: a call of ${minutes} min, bindings of ${bindingSeconds} s: the BYE was ${isHeard ? 'heard' : 'not heard'} (goal heard)`,
  )
  if (!isHeard) process.exitCode = 1
}

if (problem === undefined) void test('a call from behind a NAT', play)
else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 2
}
