/**
 * What calls leave behind: memory, descriptors and dialogs while many last, and while many follow each other; and what
 * idle strangers on the listeners of TCP and TLS cost a call. Usage: `npm run bench soak -- [calls at once] [minutes]
 * [calls in a row] [strangers]`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { g711Silence } from '../src/audio/g711.ts'
import { openRtpSession } from '../src/rtp/rtp-session.ts'
import { PhasedTicker } from '../src/rtp/ticker.ts'
import { createMediaNegotiator } from '../src/sdp/sdp.ts'
import { anySource } from '../src/sip/gate/sources.ts'
import { createUserAgent } from '../src/sip/user-agent/user-agent.ts'
import { makeSelfSigned } from '../tests/support/self-signed.ts'

const [atOnce = 200, minutes = 10, inARow = 500, strangers = 2000] = process.argv
  .slice(2)
  .map(Number)
const portRange = { min: 20_000, max: 29_998 }
/** More growth than this of the collected heap, in all, counts as a leak. */
const maxGrownMb = 3
const samples = 10
/** The transactions of the last calls are forgotten after 32 s. */
const forgottenMs = 40_000
/** Strangers cost a call nothing if it is set up in at most this many times the time, and what a run varies by. */
const [maxSlower, noiseMs] = [1.2, 2]
/** Until the last of their connections is closed. */
const goneMs = 30_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const startFarEnd = async (...given: readonly (string | number)[]) => {
  const script = join(import.meta.dirname, 'soak', 'far-end.ts')
  const child = spawn(process.execPath, [script, ...given.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const stop = async (): Promise<void> => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return { value: Number(line), stop }
}

const callees = await startFarEnd('callees')
const ticker = new PhasedTicker()
const silence = g711Silence('pcmu')
const certificate = makeSelfSigned()
// Every address counts as a trunk's here: the crowd meets the limits of connections, not only the gate.
const agent = createUserAgent({
  bindAddress: '127.0.0.1',
  sources: anySource,
  listensOnTcp: true,
  tls: { server: certificate },
})
await agent.start()
const signal = new AbortController().signal
let dialogs = 0

/** Resolves when the call is up; the result hangs up. */
const place = async (): Promise<() => Promise<void>> => {
  const session = await openRtpSession({ bindAddress: '127.0.0.1', portRange })
  const negotiator = createMediaNegotiator({ local: session })
  const result = await agent.invite(
    {
      target: `sip:+12025550100@127.0.0.1:${callees.value}`,
      from: 'sip:+12025550199@127.0.0.1',
      offer: negotiator.offer(),
      ringTimeoutMs: 60_000,
    },
    signal,
  )
  if (result.kind !== 'answered') throw new Error(`a call ended as ${result.kind}`)
  const agreed = negotiator.acceptAnswer(result.response.body.toString())
  if (agreed === undefined) throw new Error('no common audio')
  dialogs += 1
  session.connect(agreed)
  const stopTicks = ticker.add(
    () => {
      session.receive()
      session.send(silence)
    },
    (error) => console.error(error),
  )
  return async () => {
    await result.dialog.bye()
    stopTicks()
    await session.close()
    dialogs -= 1
  }
}

interface Sample {
  readonly heapMb: number
  readonly rssMb: number
  readonly descriptors: number
}

const descriptorsNow = (): number => readdirSync('/proc/self/fd').length

const look = (what: string): Sample => {
  collect()
  const { heapUsed, external, rss } = process.memoryUsage()
  const sample = {
    heapMb: (heapUsed + external) / 1e6,
    rssMb: rss / 1e6,
    descriptors: descriptorsNow(),
  }
  console.log(
    `${what.padEnd(24)} heap ${sample.heapMb.toFixed(2)} MB, rss ${sample.rssMb.toFixed(0)} MB, ${sample.descriptors} descriptors, ${dialogs} dialogs`,
  )
  return sample
}

/** A single look also sees what is on its way just then: the lowest of each half counts. */
const judge = (what: string, seen: readonly Sample[]): string => {
  const half = Math.ceil(seen.length / 2)
  const lowest = (part: readonly Sample[], of: keyof Sample): number =>
    Math.min(...part.map((sample) => sample[of]))
  const more = (of: keyof Sample): number =>
    lowest(seen.slice(-half), of) - lowest(seen.slice(0, half), of)
  const isFlat = more('heapMb') <= maxGrownMb && more('descriptors') <= 0
  return `${what}: heap ${more('heapMb').toFixed(2)} MB more in the second half (goal at most ${maxGrownMb}), rss ${more('rssMb').toFixed(0)} MB more, ${more('descriptors')} descriptors more (goal 0): ${isFlat ? 'reached' : 'missed'}`
}

const talkAtOnce = async (): Promise<string> => {
  const hangUps: (() => Promise<void>)[] = []
  for (let call = 0; call < atOnce; call += 1) hangUps.push(await place())
  // The first tenth of the time warms up.
  await delay((minutes * 60_000) / samples)
  const seen = [look(`${atOnce} calls`)]
  for (let sample = 1; sample < samples; sample += 1) {
    await delay((minutes * 60_000) / samples)
    seen.push(look(`${((sample + 1) * minutes) / samples} min`))
  }
  await Promise.all(hangUps.map((hangUp) => hangUp()))
  return judge(`${atOnce} calls for ${minutes} min`, seen)
}

const talkInARow = async (): Promise<string> => {
  const rounds = 5
  const seen: Sample[] = []
  for (let round = 1; round <= rounds; round += 1) {
    for (let call = 0; call < inARow / rounds; call += 1) await (await place())()
    await delay(forgottenMs)
    seen.push(look(`${(round * inARow) / rounds} calls in a row`))
  }
  return judge(`${inARow} calls in a row`, seen)
}

const setUpMs = async (): Promise<number> => {
  const took: number[] = []
  for (let call = 0; call < 50; call += 1) {
    const startedMs = performance.now()
    const hangUp = await place()
    took.push(performance.now() - startedMs)
    await hangUp()
  }
  return took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)] ?? 0
}

const meetStrangers = async (): Promise<string> => {
  await setUpMs()
  const alone = look('without strangers')
  const aloneMs = await setUpMs()
  const crowd = await startFarEnd('strangers', agent.localPort, agent.tlsPort, strangers)
  const besideMs = await setUpMs()
  const beside = look(`${strangers} strangers`)
  await crowd.stop()
  for (let waitedMs = 0; waitedMs < goneMs && descriptorsNow() > alone.descriptors; waitedMs += 250)
    await delay(250)
  const after = look('they are gone')
  const kept = beside.descriptors - alone.descriptors
  const left = after.descriptors - alone.descriptors
  const isSame = besideMs <= aloneMs * maxSlower + noiseMs && left <= 0
  return `${strangers} idle strangers, ${kept} of them kept: a call is set up in ${besideMs.toFixed(1)} ms (p50), without them in ${aloneMs.toFixed(1)} (goal at most a fifth and ${noiseMs} ms more), ${left} descriptors more afterwards (goal 0): ${isSame ? 'reached' : 'missed'}`
}

const verdicts = [await meetStrangers(), await talkInARow(), await talkAtOnce()]
await delay(forgottenMs)
look('after all')
await agent.stop()
await callees.stop()
for (const verdict of verdicts) console.log(verdict)
process.exit(0)
