export const durationUnits = ['minutes', 'hours', 'days', 'ISO 8601'] as const

export type DurationUnit = (typeof durationUnits)[number]

interface DurationParts {
  readonly amount: string
  readonly unit: DurationUnit
}

const units = { M: 'minutes', H: 'hours', D: 'days' } as const

/** `PT30M` as 30 minutes; one of several units stays as it is written. */
export const durationParts = (text: string): DurationParts => {
  const match = /^P(?:T(\d{1,9})([MH])|(\d{1,9})D)$/.exec(text)
  if (!match) return { amount: text, unit: 'ISO 8601' }
  const [, time, unit, days] = match
  return days === undefined
    ? { amount: time ?? '', unit: unit === 'H' ? units.H : units.M }
    : { amount: days, unit: units.D }
}

export const durationText = ({ amount, unit }: DurationParts): string => {
  if (unit === 'ISO 8601' || !/^\d{1,9}$/.test(amount)) return amount
  return unit === 'days' ? `P${amount}D` : `PT${amount}${unit === 'hours' ? 'H' : 'M'}`
}
