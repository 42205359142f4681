import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../support/until.ts'
import type { Engine } from './engine.ts'
import type { EngineSession } from './engine-session.ts'
import type { Heard } from './marked-audio.ts'
import type { Tenant } from './tenant.ts'
import type { TrunkCall } from './trunk-call.ts'
import type { Trunk } from './trunk.ts'

/** A call with audio in both directions. */
export interface LiveCall {
  readonly id: string
  readonly leg: TrunkCall
  readonly session: EngineSession
}

export interface LiveCallParts {
  readonly trunk: Trunk
  readonly engine: Engine
  readonly tenant: Tenant
  readonly agentId: string
}

/** Half a second of marked audio. */
const enoughBytes = 4_000
const flowTimeoutMs = 10_000

/** Places a call to this number and waits until both sides hear each other. */
export const openLiveCall = async (
  { trunk, engine, tenant, agentId }: LiveCallParts,
  number: string,
): Promise<LiveCall> => {
  const line = `line ${number} ${trunk.calls.length}`
  const { status, body } = await tenant.call(agentId, number, line)
  if (status !== 202) throw new Error(`POST /calls: ${status} ${JSON.stringify(body)}`)
  const session = await engine.sessionOf(line)
  const leg = await trunk.callTo(number)
  const call = { id: body.id ?? '', leg, session }
  const problems = await flowProblems(call)
  if (problems.length > 0) throw new Error(`The call to ${number}: ${problems.join('; ')}`)
  return call
}

/** The faults of a call that should be live: over, mute in a direction, or with a stranger in it. */
export const flowProblems = async ({ leg, session }: LiveCall): Promise<string[]> => {
  if (leg.isOver) return ['it was ended']
  const before = { callee: session.heard.callee, agent: leg.audio?.heard.agent ?? 0 }
  const problems: string[] = []
  const flows = (count: () => number, from: number, what: string): Promise<void> =>
    until(what, () => (count() - from >= enoughBytes || leg.isOver ? true : undefined), {
      timeoutMs: flowTimeoutMs,
    }).then(
      () => undefined,
      () => void problems.push(what),
    )
  await Promise.all([
    flows(() => session.heard.callee, before.callee, 'the agent no longer hears the callee'),
    flows(() => leg.audio?.heard.agent ?? 0, before.agent, 'the callee no longer hears the agent'),
  ])
  if (leg.isOver) problems.push('it was ended')
  if (session.heard.stranger > 0)
    problems.push(`the agent heard ${session.heard.stranger} bytes of a stranger`)
  const sources = leg.audio?.sources.size ?? 0
  if (sources > 1) problems.push(`the callee is sent audio from ${sources} sources`)
  return problems
}

/** Whose audio is in the callee's lane of a recording's spool. */
export const readSpool = (dataFolder: string, callId: string): Heard | undefined => {
  const name = readdirSync(dataFolder, { recursive: true, encoding: 'utf8' }).find(
    (file) => file.endsWith('.spool') && file.includes(callId),
  )
  if (name === undefined) return undefined
  const bytes = readFileSync(join(dataFolder, name)).subarray(spoolHeaderBytes)
  const heard: Heard = { callee: 0, agent: 0, stranger: 0 }
  for (let at = 1; at < bytes.length; at += 2) {
    const level = (bytes[at] ?? 0) & 0x7f
    if (level === 0x7d) heard.callee += 1
    else if (level < 0x10) heard.stranger += 1
  }
  return heard
}

const spoolHeaderBytes = 512
