/** Rings of one hour: what was expected when the batch began, what came, what is still to come. */
export interface ForecastHour {
  readonly hour: string
  readonly expected: number
  readonly rung: number
  readonly coming: number
}

type Hours = readonly { readonly hour: string; readonly rings: number }[]

interface Sources {
  readonly hours: Hours
  readonly at_start?: { readonly hours: Hours } | undefined
  readonly fact: { readonly hours: Hours }
}

/** Every hour in which something was expected, came or is to come, in order. */
export const hoursBeside = (forecast: Sources): ForecastHour[] => {
  const hours = new Map<string, ForecastHour>()
  const add = (from: Hours, member: 'expected' | 'rung' | 'coming'): void => {
    for (const { hour, rings } of from) {
      const known = hours.get(hour) ?? { hour, expected: 0, rung: 0, coming: 0 }
      hours.set(hour, { ...known, [member]: rings })
    }
  }
  add(forecast.at_start?.hours ?? [], 'expected')
  add(forecast.fact.hours, 'rung')
  add(forecast.hours, 'coming')
  return [...hours.values()].toSorted((left, right) => left.hour.localeCompare(right.hour))
}
