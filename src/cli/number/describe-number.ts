import type { ShownNumber } from '../../domains/numbers/number-resource.ts'
import { facts, type Lines, type Piece } from '../terminal/output.ts'

const styles = { active: 'good', exhausted: 'poor', resting: 'poor', unusable: 'bad' } as const

const stateOf = ({ state, flag_reason: flag }: ShownNumber): Piece =>
  flag === null
    ? { style: styles[state], text: state }
    : { style: 'bad', text: `${state}, flagged` }

export const numberColumns = ['NUMBER', 'COUNTRY', 'STATE', 'TODAY', 'TRUNK', 'REASON']

/** A row of `number list`. */
export const numberRow = (number: ShownNumber): Piece[] => [
  number.phone_number,
  number.country ?? '',
  stateOf(number),
  callsToday(number),
  number.trunk ?? 'any',
  [number.reason ?? number.flag_reason ?? '', number.rests_until && `until ${number.rests_until}`]
    .filter((part) => part)
    .join(' '),
]

export const describeNumber = (number: ShownNumber, width?: number): Lines =>
  facts(
    [
      ['number', number.phone_number],
      ['country', number.country ?? undefined],
      ['state', stateOf(number)],
      ['reason', number.reason ?? undefined],
      ['looks spoiled', number.flag_reason ?? undefined],
      ['since', number.flagged_at ?? undefined],
      ['rests until', number.rests_until ?? undefined],
      ['calls today', callsToday(number)],
      ['trunk', number.trunk ?? 'any'],
      ['rests when flagged', number.rest_when_flagged ? 'yes' : 'no'],
    ],
    width,
  )

const callsToday = ({ calls_today: calls, calls_per_day: limit }: ShownNumber): string =>
  limit === null ? `${calls}, no limit` : `${calls} of ${limit}`
