import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../config/read-config.ts'
import { DatabaseSetupError } from '../database/setup-error.ts'
import { explainStartError, problemOfSharedPort } from './explain-start-error.ts'

const config = readConfig({
  DATABASE_URL: 'postgres://someone:secret@db.example:6000/outdial',
  OUTDIAL_SIP_PORT: '5077',
})
const explain = (error: unknown): string => {
  const explained = explainStartError(error, config)
  assert.ok(explained instanceof Error)
  return explained.message
}
const fault = (message: string, parts: object): Error => Object.assign(new Error(message), parts)

test('a port in use is named with its setting, also inside another error', () => {
  const cause = fault('bind EADDRINUSE', { code: 'EADDRINUSE', port: 5077 })
  for (const error of [cause, new Error('SIP cannot listen', { cause })])
    assert.match(explain(error), /^Port 5077 is in use .* OUTDIAL_SIP_PORT to a free port\.$/)
})

const httpSettings = ['OUTDIAL_API_PORT', 'OUTDIAL_DASHBOARD_PORT', 'OUTDIAL_MEDIA_PORT'] as const

test('one port for several of our servers is reported by all their settings', () => {
  const explained = (settings: readonly string[]): string => {
    const shared = readConfig(Object.fromEntries(settings.map((each) => [each, '4010'])))
    const error = fault('listen EADDRINUSE', { code: 'EADDRINUSE', port: 4010 })
    const told = explainStartError(error, shared)
    assert.ok(told instanceof Error)
    assert.equal(told.message, problemOfSharedPort(shared))
    return told.message
  }
  for (const left of httpSettings) {
    const two = httpSettings.filter((each) => each !== left)
    assert.match(explained(two), new RegExp(`^Port 4010 is both ${two.join(' and ')}: set one`))
  }
  assert.match(explained(httpSettings), new RegExp(`^Port 4010 is ${httpSettings.join(', ')} at`))
  const anyFree = Object.fromEntries(httpSettings.map((each) => [each, '0']))
  assert.equal(problemOfSharedPort(readConfig(anyFree)), undefined)
})

test('each port of HTTP that another program has is named with its setting', () => {
  const ports = { OUTDIAL_API_PORT: 4010, OUTDIAL_DASHBOARD_PORT: 4011, OUTDIAL_MEDIA_PORT: 4012 }
  const entries = Object.entries(ports)
  const settings = readConfig(Object.fromEntries(entries.map(([name, port]) => [name, `${port}`])))
  for (const [name, port] of entries) {
    const told = explainStartError(fault('listen', { code: 'EADDRINUSE', port }), settings)
    assert.ok(told instanceof Error)
    assert.match(told.message, new RegExp(`^Port ${port} is in use .* ${name} to a free port`))
  }
})

test('a database that is lost during the start is reported with the remedy', () => {
  const refused = { code: 'ECONNREFUSED', port: 6000 }
  const losses = [
    fault('connect ECONNREFUSED 10.0.0.1:6000', refused),
    new Error('Connection terminated unexpectedly'),
  ]
  for (const error of losses)
    assert.equal(
      explain(error),
      `The database went away during the start (${error.message}): start again when it answers.`,
    )
})

test('clear errors, and foreign ones, stay unchanged', () => {
  const errors = [
    new DatabaseSetupError('It is newer.', { cause: new Error('Connection terminated') }),
    fault('connect ECONNREFUSED 10.0.0.2:5060', { code: 'ECONNREFUSED', port: 5060 }),
    new Error('A part of the program did not start in time.'),
  ]
  for (const error of errors) assert.equal(explainStartError(error, config), error)
})
