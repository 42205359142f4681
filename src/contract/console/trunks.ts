import { z } from 'zod'
import { op } from '../define-operation.ts'
import { count, dateTime } from '../fields.ts'
import { changes, reads } from './least-role.ts'

const gateway = z.strictObject({
  uri: z.string(),
  state: z.enum(['up', 'down', 'trial']),
  cause: z.string().nullable(),
  reason: z.string().nullable(),
  down_since: dateTime.nullable(),
  retry_at: dateTime.nullable(),
})

const registration = z.strictObject({
  gateway: z.string(),
  node: z.string(),
  state: z.enum(['registering', 'registered', 'failed']),
  reason: z.string().nullable(),
  expires_at: dateTime.nullable(),
})

/** What was set is in `settings`, in the shape that a change takes; the domain checks it. */
const trunk = z.strictObject({
  name: z.string(),
  source: z.enum(['env', 'database']),
  state: z.enum(['up', 'down', 'paused']),
  reason: z.string().nullable(),
  paused: z.boolean(),
  has_password: z.boolean(),
  has_tls_key: z.boolean(),
  live_calls: count,
  channels: z.int().nullable(),
  cps: z.number(),
  /** While the carrier is congested; null: all of them. */
  paced_cps: z.number().nullable(),
  congested_since: dateTime.nullable(),
  priority: z.int(),
  register: z.boolean(),
  gateways: z.array(gateway),
  registrations: z.array(registration),
  settings: z.record(z.string(), z.unknown()),
})

const trunkPath = z.strictObject({ trunk: z.string().min(1).max(63) })
const settings = z.record(z.string(), z.unknown())
/** Null removes it; without it, it stays. */
const password = z.string().max(1_000).nullable().optional()
const tlsKey = z.string().max(16_384).nullable().optional()

const result = z.strictObject({
  trunk: z.string(),
  ok: z.boolean(),
  gateways: z.array(
    z.strictObject({
      uri: z.string(),
      method: z.enum(['OPTIONS', 'REGISTER', 'INVITE']),
      ok: z.boolean(),
      sip_status: z.int().nullable(),
      round_trip_ms: z.int().nullable(),
      message: z.string(),
    }),
  ),
})

const ofInstallation = { ofInstallation: true } as const
const known = { errors: ['resource_not_found', 'resource_state_conflict'] } as const

/** The trunks of the installation, and not of one organization. */
export const trunkOperations = {
  listTrunks: op('GET /console/trunks', {
    ...reads('admin'),
    ...ofInstallation,
    response: z.strictObject({ data: z.array(trunk) }),
  }),
  testTrunk: op('GET /console/trunks/{trunk}/test', {
    ...reads('admin'),
    ...ofInstallation,
    params: trunkPath,
    response: result,
    ...known,
  }),
  addTrunk: op('POST /console/trunks', {
    ...changes('admin'),
    ...ofInstallation,
    body: z.strictObject({ name: z.string().max(100), settings, password, tls_key: tlsKey }),
    response: trunk,
    statuses: [201],
    errors: ['resource_state_conflict'],
  }),
  changeTrunk: op('PATCH /console/trunks/{trunk}', {
    ...changes('admin'),
    ...ofInstallation,
    params: trunkPath,
    body: z.strictObject({ settings, password, tls_key: tlsKey }),
    response: trunk,
    ...known,
  }),
  setTrunkPaused: op('POST /console/trunks/{trunk}/pause', {
    ...changes('admin'),
    ...ofInstallation,
    params: trunkPath,
    body: z.strictObject({ paused: z.boolean() }),
    response: trunk,
    ...known,
  }),
  removeTrunk: op('POST /console/trunks/{trunk}/remove', {
    ...changes('admin'),
    ...ofInstallation,
    params: trunkPath,
    body: z.strictObject({}),
    response: trunk,
    ...known,
  }),
} as const
