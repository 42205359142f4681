import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../stage/attack.ts'
import { strangeRequest } from '../stage/requests.ts'
import type { Stage } from '../stage/stage.ts'

/** More than the product's table of transactions holds. */
const byes = 21_000
const perSecond = 5_250
/** If the product responds, it is sent no faster than that, so that its socket drops nothing. */
const maxUnanswered = 300
const floodLimitMs = 20_000
const stepMs = 20
/** A request may be sent for 32 s (RFC 3261, timer F); the line must be free long before. */
const answerLimitMs = 5_000
const endLimitMs = 5_000

/** 21,000 BYEs of no dialog within 4 s from the trunk's own port, and then a callee who hangs up. */
export const byeFlood: Attack = {
  name: 'bye-flood',
  goal: 'a genuine BYE is answered within 5 s after 21,000 false ones',
  isTimed: true,
  async run(stage) {
    const call = await stage.openCall()
    const answers = await flood(stage)
    const startedMs = performance.now()
    const response = await call.leg.request('BYE', { timeoutMs: answerLimitMs })
    const tookMs = performance.now() - startedMs
    const problems: string[] = []
    if (response?.status !== 200)
      problems.push(`the genuine BYE was answered ${response?.start ?? 'by nothing'}`)
    else if (!(await hasEnded(stage, call.id))) problems.push('the call is still live')
    return {
      figure: `${byes} BYEs drew ${answers} answers, the genuine one took ${tookMs.toFixed(0)} ms`,
      problems,
    }
  },
}

/** Returns how many of them got a response. If none does, all are sent; else until this many have arrived. */
const flood = async ({ trunk, product }: Stage): Promise<number> => {
  const { peer } = trunk
  const parts = { address: peer.address, port: peer.port }
  const callIdPrefix = randomBytes(4).toString('hex')
  let answers = 0
  const stopCounting = trunk.onStray(() => {
    answers += 1
  })
  const startedMs = performance.now()
  let sent = 0
  // Earlier unanswered ones count as lost.
  let lost = 0
  const isAnswering = (): boolean => answers > sent / 4
  const isDone = (): boolean => (isAnswering() ? answers : sent) >= byes
  while (!isDone() && performance.now() - startedMs < floodLimitMs) {
    const due = sent + (perSecond * stepMs) / 1_000
    const room = !isAnswering() ? Infinity : maxUnanswered - (sent - answers - lost)
    for (let left = room; sent < due && left > 0; sent += 1, left -= 1) {
      const ids = { callId: `${callIdPrefix}-${sent}`, toTag: `t${sent}` }
      const text = strangeRequest('BYE', { ...parts, ...ids })
      void peer.send(text, product.home.sipPort, '127.0.0.1')
    }
    const before = answers
    await delay(stepMs)
    if (answers === before) lost = sent - answers
  }
  stopCounting()
  return answers
}

const hasEnded = async ({ tenant }: Stage, id: string): Promise<boolean> => {
  const deadline = performance.now() + endLimitMs
  while (performance.now() < deadline) {
    const { body } = await tenant.request('GET', `/calls/${id}`)
    if (body['status'] === 'completed') return true
    await delay(100)
  }
  return false
}
