import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../stage/attack.ts'
import { openLiveCall } from '../stage/live-calls.ts'
import { openTenant } from '../stage/tenant.ts'

/** Clears the screen, sets the title, colours, a C1 introducer, a bell, and reverses the text. */
const escapes = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u0085\u200f\u202eevil\u2066\u0008'
const hostileName = `Mallory ${escapes}`

/** C0 except line feed and tab, DEL, C1, and direction marks. */
const ranges = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x061c, 0x061c],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2066, 0x2069],
] as const

const isForbidden = (character: string): boolean => {
  const code = character.codePointAt(0) ?? 0
  return ranges.some(([first, last]) => code >= first && code <= last)
}

const findForbidden = (text: string): string | undefined => {
  const found = Array.from(text).find(isForbidden)
  return found && `U+${(found.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}

const printable = (text: string): string =>
  Array.from(text, (character) => (isForbidden(character) ? '…' : character)).join('')

/** Foreign names, words and outcomes never control the operator's terminal. */
export const terminalEscapes: Attack = {
  name: 'terminal-escapes',
  goal: 'no control or direction character of others reaches a terminal or a log line',
  isLong: true,
  async run(stage) {
    const { product, trunk, engine } = stage
    const tenant = await openTenant(product, hostileName)
    const members = { name: hostileName, description: escapes }
    const { id: agentId = '', refusal } = await tenant.publishAgent(members)
    const { id: plainAgent = '' } = agentId === '' ? await tenant.publishAgent() : { id: agentId }
    const number = stage.newNumber()
    const parts = { trunk, engine, tenant, agentId: plainAgent }
    const call = await openLiveCall(parts, number)
    call.session.reportWords(`Yes ${escapes} please.`)
    const named = await tenant.request('POST', '/contacts', {
      external_id: `esc-${escapes}`.slice(0, 60),
      name: hostileName,
      phone_number: stage.newNumber(),
      company: escapes,
      city: escapes,
    })
    await delay(500)
    await call.leg.request('BYE')
    await delay(1_000)
    const commands = [
      ['org', 'list'],
      ['agent', 'list', '--org', tenant.id],
      ['key', 'list', '--org', tenant.id],
      ['call', 'show', call.id],
      ['call', 'explain', call.id],
      ['dial', '--org', tenant.id, '--agent', escapes, number],
      ['agent', 'publish', escapes, '--file', `/${escapes}`],
    ]
    const problems: string[] = []
    const runs = commands.flatMap((command) => [command, [...command, '--json']])
    for (const words of runs) {
      const { stdout, stderr } = await product.run(...words)
      const found = findForbidden(stdout + stderr)
      if (found) problems.push(`${printable(words.join(' ')).slice(0, 40)}: ${found}`)
    }
    const logged = findForbidden(product.output())
    if (logged) problems.push(`the log holds ${logged}`)
    const inSip = call.leg.invites.some(({ headers }) =>
      headers.some(([, value]) => findForbidden(value) !== undefined),
    )
    if (inSip) problems.push('a SIP header holds one')
    return {
      figure: `${runs.length} outputs (agent ${refusal === undefined ? 'taken' : 'refused'}, contact ${named.status})`,
      problems,
    }
  },
}
