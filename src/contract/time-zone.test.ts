import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone } from './time-zone.ts'

const zones = (
  'UTC GMT Zulu CET EST5EDT Japan GB-Eire NZ-CHAT W-SU Europe/Berlin europe/berlin Asia/Calcutta Asia/Kolkata ' +
  'US/Pacific America/Argentina/Buenos_Aires America/Port-au-Prince Etc/UTC Etc/GMT+5'
).split(' ')

for (const name of zones) test(`${name} is a time zone`, () => assert.equal(isTimeZone(name), true))

const others = (
  'EST|PST|BST|IST|CEST|ACT|Z|local|Factory|Mars/Olympus|+02:00|-05|GMT+2|UTC+2|SystemV/EST5EDT|Etc/Unknown|' +
  'posix/Europe/Berlin|| UTC|UTC |Europe/|/Berlin|Europe|Europe/Berlin\n|../etc/localtime'
).split('|')

for (const name of others)
  test(`${JSON.stringify(name)} is none`, () => assert.equal(isTimeZone(name), false))
