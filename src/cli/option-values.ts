import { InvalidArgumentError } from 'commander'

/** Parsers of option values; a refused value is wrong use (exit status 2). */

export const parseWholeNumber = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

export interface RateOption {
  readonly rate?: Readonly<Record<string, number>>
}

/** `--rate execution=60 --rate read=1000` as `{ execution: 60, read: 1000 }`. */
export const collectRates = (
  text: string,
  before: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> => {
  const [, bucket, allowance] = /^([a-z]+)=(\d{1,9})$/.exec(text) ?? []
  if (bucket === undefined || allowance === undefined)
    throw new InvalidArgumentError('It must be written as BUCKET=N, such as execution=60.')
  return { ...before, [bucket]: Number(allowance) }
}

/** `a,b` as `['a', 'b']`. */
export const commaList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

export interface QuotaOption {
  readonly quota?: Readonly<Record<string, number>>
}

/** `--quota contacts=5000000 --quota batches=100` as an object. */
export const collectQuotas = (
  text: string,
  before: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> => {
  const [, name, quota] = /^([a-z_]+)=(\d{1,10})$/.exec(text) ?? []
  if (name === undefined || quota === undefined)
    throw new InvalidArgumentError('It must be written as NAME=N, such as contacts=5000000.')
  return { ...before, [name]: Number(quota) }
}
