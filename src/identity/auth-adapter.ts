import { AsyncLocalStorage } from 'node:async_hooks'
import { hash } from 'node:crypto'
import { createAdapterFactory, type CleanedWhere } from 'better-auth/adapters'
import { sql, type Queryable, type Statement, type Transaction } from '../database/database.ts'
import { BoundedMap } from '../runtime/bounded-map.ts'

/** The tables of `migrations/0170-accounts.sql` under better-auth's names of its models. */
export const authTables = {
  user: 'accounts',
  account: 'account_credentials',
  session: 'account_sessions',
  verification: 'account_verifications',
  twoFactor: 'account_second_factors',
} as const

/** What is stored of a session's token: a copy of the table opens no session. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex')

const inTransaction = new AsyncLocalStorage<Transaction>()

/** Makes better-auth's statements below `work` part of the transaction. */
export const authWithin = <T>(tx: Transaction, work: () => Promise<T>): Promise<T> =>
  inTransaction.run(tx, work)

type Values = Record<string, unknown>

/** better-auth's storage over our database: its models are our tables, its camelCase fields their columns. */
export const createAuthAdapter = (database: Queryable) => {
  const db = (): Queryable => inTransaction.getStore() ?? database

  const find = async (text: string, given: Given): Promise<Values[]> =>
    (await db().rows<Values>(statementOf(text), given.values)).map((row) => fromRow(row, given))
  const findOne = async (text: string, given: Given): Promise<Values | null> =>
    (await find(text, given))[0] ?? null
  const run = (text: string, given: Given): Promise<number> =>
    db().run(statementOf(text), given.values)

  return createAdapterFactory({
    config: {
      adapterId: 'outdial',
      adapterName: 'Outdial',
      supportsBooleans: true,
      supportsDates: true,
      supportsUUIDs: true,
      transaction: false,
    },
    adapter: () => ({
      create: async ({ model, data }) => {
        const given = new Given(model)
        const names = Object.keys(data)
        const holders = names.map((name) => given.add(name, data[name]))
        const text = `insert into ${table(model)} (${names.map(column).join(', ')})
          values (${holders.join(', ')}) returning *`
        return cast((await findOne(text, given)) ?? {})
      },
      findOne: async ({ model, where }) => {
        const given = new Given(model)
        return cast(
          await findOne(`select * from ${table(model)}${whereText(where, given)} limit 1`, given),
        )
      },
      findMany: async ({ model, where, limit, offset, sortBy }) => {
        const given = new Given(model)
        const condition = whereText(where ?? [], given)
        const order = sortBy ? ` order by ${column(sortBy.field)} ${sortBy.direction}` : ''
        const page = ` limit ${given.add('limit', limit)} offset ${given.add('offset', offset ?? 0)}`
        return cast(await find(`select * from ${table(model)}${condition}${order}${page}`, given))
      },
      count: async ({ model, where }) => {
        const given = new Given(model)
        const text = `select count(*)::int as count from ${table(model)}${whereText(where ?? [], given)}`
        return Number((await findOne(text, given))?.['count'] ?? 0)
      },
      update: async ({ model, where, update }) => {
        const given = new Given(model)
        const changes = setText(cast(update), given)
        return cast(
          await findOne(
            `update ${table(model)} set ${changes}${whereText(where, given)} returning *`,
            given,
          ),
        )
      },
      updateMany: ({ model, where, update }) => {
        const given = new Given(model)
        const changes = setText(update, given)
        return run(`update ${table(model)} set ${changes}${whereText(where, given)}`, given)
      },
      delete: async ({ model, where }) => {
        const given = new Given(model)
        await run(`delete from ${table(model)}${whereText(where, given)}`, given)
      },
      deleteMany: ({ model, where }) => {
        const given = new Given(model)
        return run(`delete from ${table(model)}${whereText(where, given)}`, given)
      },
      // Of two that consume the same row at once, one gets it.
      consumeOne: async ({ model, where }) => {
        const given = new Given(model)
        const text = `delete from ${table(model)} where id = (
          select id from ${table(model)}${whereText(where, given)} limit 1 for update skip locked) returning *`
        return cast(await findOne(text, given))
      },
      incrementOne: async ({ model, where, increment, set = {} }) => {
        const given = new Given(model)
        const counts = Object.entries(increment).map(
          ([name, by]) => `${column(name)} = ${column(name)} + ${given.add('increment', by)}`,
        )
        const sets = Object.keys(set).length === 0 ? [] : [setText(set, given)]
        const changes = [...counts, ...sets].join(', ')
        if (changes === '') return null
        return cast(
          await findOne(
            `update ${table(model)} set ${changes}${whereText(where, given)} returning *`,
            given,
          ),
        )
      },
    }),
  })
}

/** The values of one statement. A session's token is stored as its hash; what it was is given back with the row. */
class Given {
  readonly model: string
  readonly values: unknown[] = []
  token: string | undefined

  constructor(model: string) {
    this.model = model
  }

  /** Takes a value; returns its place in the text. */
  add(field: string, value: unknown): string {
    const isToken = this.model === authTables.session && field === 'token'
    this.values.push(isToken ? this.#hashed(value) : value)
    return `$${this.values.length}`
  }

  #hashed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => hashToken(String(each)))
    this.token = String(value)
    return hashToken(this.token)
  }
}

const setText = (changes: Values, given: Given): string =>
  Object.entries(changes)
    .map(([name, value]) => `${column(name)} = ${given.add(name, value)}`)
    .join(', ')

/** All conditions joined by AND, and one of those joined by OR. */
const whereText = (where: readonly CleanedWhere[], given: Given): string => {
  const ors = where.filter(({ connector }) => connector === 'OR')
  const ands = where.filter(({ connector }) => connector !== 'OR')
  const all = ands.map((each) => conditionOf(each, given))
  if (ors.length > 0) all.push(`(${ors.map((each) => conditionOf(each, given)).join(' or ')})`)
  return all.length === 0 ? '' : ` where ${all.join(' and ')}`
}

const comparisons = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const

const conditionOf = ({ field, operator, value }: CleanedWhere, given: Given): string => {
  const name = column(field)
  if (value === null && operator === 'eq') return `${name} is null`
  if (value === null && operator === 'ne') return `${name} is not null`
  const place = given.add(field, value)
  if (operator === 'in') return `${name} = any(${place})`
  if (operator === 'not_in') return `not ${name} = any(${place})`
  if (isComparison(operator)) return `${name} ${comparisons[operator]} ${place}`
  throw new Error(`better-auth asked for ${operator}, by which no table of ours is searched.`)
}

const isComparison = (operator = 'eq'): operator is keyof typeof comparisons =>
  operator in comparisons

const word = /^[A-Za-z]+$/

const column = (field: string): string => {
  if (!word.test(field)) throw new Error(`${field} is no column.`)
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const tables = new Set<string>(Object.values(authTables))

const table = (model: string): string => {
  if (!tables.has(model)) throw new Error(`${model} is no table of accounts.`)
  return model
}

const fromRow = (row: Values, { model, token }: Given): Values => {
  const fields = Object.entries(row).map(([name, value]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  const values = Object.fromEntries(fields) as Values
  return model === authTables.session && token !== undefined ? { ...values, token } : values
}

const maxStatements = 200
const statements = new BoundedMap<string, Statement>({ maxSize: maxStatements })

/** Prepared once: better-auth's statements differ in a few dozen ways. */
const statementOf = (text: string): Statement => {
  const known = statements.get(text)
  if (known) return known
  const made = sql(`auth-adapter.${hash('sha256', text, 'hex').slice(0, 32)}`, text)
  statements.set(text, made)
  return made
}

/** The factory's types promise what its caller asked for; rows are what the tables hold. */
const cast = <T>(value: unknown): T => value as T
