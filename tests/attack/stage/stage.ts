import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import { connectToTestServer } from '../../support/test-server.ts'
import { openEngine, type Engine } from './engine.ts'
import { flowProblems, openLiveCall, type LiveCall } from './live-calls.ts'
import { startProber, type Prober } from './prober.ts'
import { runMeasured, type MeasuredResult } from './command.ts'
import {
  createHome,
  environmentOf,
  startProduct,
  type Product,
  type ProductOptions,
} from './product.ts'
import { openTenant, type Tenant } from './tenant.ts'
import { openTrunk, type Trunk } from './trunk.ts'

/** A running product with two live calls over a trunk of the harness, and everything an attack needs. */
export interface Stage {
  /** The checkout that is attacked. */
  readonly root: string
  /** The product's start options; an attack may start another one. */
  readonly settings: Readonly<Record<string, string>>
  readonly product: Product
  readonly trunk: Trunk
  readonly engine: Engine
  readonly tenant: Tenant
  /** An agent without tools. */
  readonly agentId: string
  readonly prober: Prober
  readonly database: pg.Client
  readonly live: readonly LiveCall[]
  /** A further call, to an unused number. */
  readonly openCall: () => Promise<LiveCall>
  /** An unused number. */
  readonly newNumber: () => string
  /** Another product beside this one, with its own database; stopped with the stage. */
  startAnother(options: AnotherOptions): Promise<Product>
  /** An installation that was never started: its command line. */
  openEmpty(): Promise<{ run(...args: string[]): Promise<MeasuredResult> }>
  /** The state of the two calls; broken calls are replaced, an ended product is restarted. */
  recover(): Promise<string[]>
  stop(): Promise<void>
}

export interface AnotherOptions extends Omit<ProductOptions, 'root'> {
  /** Another checkout than the attacked one. */
  readonly root?: string
  /** Its database is the embedded one, in its own folder. */
  readonly hasOwnCluster?: boolean
  /** A node of this product's installation, instead of a separate installation. */
  readonly besides?: Product
}

const liveCalls = 2

export const openStage = async (root: string): Promise<Stage> => {
  const closers: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  try {
    return await buildStage(root, closers, close)
  } catch (error) {
    await close()
    throw error
  }
}

const buildStage = async (
  root: string,
  closers: (() => unknown)[],
  stop: () => Promise<void>,
): Promise<Stage> => {
  const engine = await openEngine()
  closers.push(() => engine.close())
  const trunk = await openTrunk()
  closers.push(() => trunk.close())
  const main = await createDatabase()
  closers.push(main.drop)
  const settings = {
    DATABASE_URL: main.url,
    OUTDIAL_SIP_TRUNK: trunk.uri,
    OUTDIAL_CALLER_ID: '+12125550199',
    OUTDIAL_ENGINE: 'realtime',
    OUTDIAL_REALTIME_URL: engine.url,
    OUTDIAL_REALTIME_KEY: 'engine-secret',
    OUTDIAL_RTP_PORTS: '20000-23999',
    OUTDIAL_ALLOW_PRIVATE_NETWORK: '1',
    OUTDIAL_LOG_LEVEL: 'debug',
    OUTDIAL_MAX_CPS: '1000',
  }
  const home = await createHome()
  closers.push(() => home.remove())
  let product = await startProduct(home, { root, settings })
  closers.push(() => product.stop())
  const database = new pg.Client(main.connection)
  await database.connect()
  closers.push(() => database.end())
  let prober = await startProber({ port: home.apiPort, pid: product.pid })
  closers.push(() => prober.stop())
  const tenant = await openTenant(product, 'Attacked')
  const { id: agentId = '' } = await tenant.publishAgent()
  let numbers = 0
  const newNumber = (): string => `+1212555${String((numbers += 1)).padStart(4, '0')}`
  const openCall = (): Promise<LiveCall> =>
    openLiveCall({ trunk, engine, tenant, agentId }, newNumber())
  const live: LiveCall[] = []
  while (live.length < liveCalls) live.push(await openCall())

  const openOwnDatabase = async (): Promise<string> => {
    const own = await createDatabase()
    closers.push(own.drop)
    return own.url
  }

  const restart = async (): Promise<void> => {
    await prober.stop()
    await product.stop()
    for (const call of trunk.calls) call.close()
    product = await startProduct(home, { root, settings })
    prober = await startProber({ port: home.apiPort, pid: product.pid })
  }

  return {
    root,
    settings,
    get product() {
      return product
    },
    trunk,
    engine,
    tenant,
    agentId,
    get prober() {
      return prober
    },
    database,
    live,
    openCall,
    newNumber,
    async startAnother({ settings: others, besides, hasOwnCluster, ...options }) {
      const ownHome = await createHome()
      closers.push(() => ownHome.remove())
      const { DATABASE_URL: _, ...own } = others
      const url = hasOwnCluster ? undefined : (besides?.databaseUrl ?? (await openOwnDatabase()))
      const another = await startProduct(ownHome, {
        root,
        ...options,
        settings: {
          ...own,
          ...(url !== undefined && { DATABASE_URL: url }),
          OUTDIAL_RTP_PORTS: '24000-27999',
        },
      })
      closers.push(() => another.stop())
      return another
    },
    async openEmpty() {
      const ownHome = await createHome()
      closers.push(() => ownHome.remove())
      const env = environmentOf(ownHome, { DATABASE_URL: await openOwnDatabase() })
      return { run: (...args) => runMeasured(join(root, 'src/main.ts'), env, args) }
    },
    async recover() {
      const isDead = !product.isAlive
      if (isDead) await restart()
      const problems = isDead ? ['the product ended'] : []
      for (const [index, call] of live.entries()) {
        const found = isDead ? ['it was ended'] : await flowProblems(call)
        problems.push(...found.map((problem) => `live call ${index + 1}: ${problem}`))
        if (found.length > 0) live[index] = await openCall()
      }
      return problems
    },
    stop,
  }
}

/** An empty database on the tests' shared server. */
const createDatabase = async () => {
  const server = await connectToTestServer()
  const name = `attack_${randomBytes(8).toString('hex')}`
  await administer(server, `create database ${name}`)
  const connection = { ...server, database: name }
  const { user, host, port } = connection
  const place = `host=${encodeURIComponent(host ?? '')}&port=${port}`
  return {
    connection,
    url: `postgresql://${String(user)}@localhost/${name}?${place}`,
    drop: () => administer(server, `drop database if exists ${name} with (force)`),
  }
}

const administer = async (server: pg.ClientConfig, statement: string): Promise<void> => {
  const client = new pg.Client(server)
  await client.connect()
  await client.query(statement)
  await client.end()
}
