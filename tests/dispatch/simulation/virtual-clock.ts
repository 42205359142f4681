import pg from 'pg'
import type { Queryable } from '../../../src/database/database.ts'
import { execute } from '../../support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

/**
 * A test database whose statements read the time from a row: every `now()` resolves to its own function before
 * PostgreSQL's. The real statements run, in whatever year a history plays.
 */
export const createVirtualDatabase = async (): Promise<TestDatabase> => {
  const test = await createTestDatabase()
  const client = new pg.Client(test.connection)
  await client.connect()
  try {
    const { rows } = await client.query<{ statement: string }>(timeDefaults)
    await client.query(clockFunctions)
    for (const { statement } of rows) await client.query(statement)
  } finally {
    await client.end()
  }
  return test
}

// Defaults were bound to PostgreSQL's functions when their tables were created: they are bound again below.
const timeDefaults = `
  select format('alter table %s alter column %I set default %s', d.adrelid::regclass, a.attname,
                pg_get_expr(d.adbin, d.adrelid)) as statement
    from pg_attrdef d
    join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
    join pg_class c     on c.oid = d.adrelid and c.relnamespace = 'public'::regnamespace
   where pg_get_expr(d.adbin, d.adrelid) ~ '(now|_timestamp)\\(\\)'`

const clockFunctions = `
  create schema virtual;
  create table virtual.clock (instant timestamptz not null);
  insert into virtual.clock values (now());
  do $$
  declare clock text;
  begin
    foreach clock in array array['now', 'clock_timestamp', 'statement_timestamp', 'transaction_timestamp'] loop
      execute format('create function virtual.%I() returns timestamptz language sql stable '
                     'as ''select instant from virtual.clock''', clock);
    end loop;
    execute format('alter database %I set search_path = public, virtual, pg_catalog', current_database());
  end $$;
  set search_path = public, virtual, pg_catalog;`

/** Moves the clock of the database, to an instant or by a while. */
export const setClock = async (db: Queryable, instantMs: number): Promise<void> => {
  await execute(db, 'update virtual.clock set instant = $1', [new Date(instantMs)])
}
