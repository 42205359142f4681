import assert from 'node:assert/strict'
import { it } from 'node:test'
import { usualColumns } from './usual-columns.ts'

it('finds the fields of files as other programs write them', () => {
  assert.deepEqual(usualColumns(['Full name', 'Mobile', 'E-mail', 'Company Name', 'Notes']), [
    'name',
    'phone_number',
    'email',
    'company',
    null,
  ])
  assert.deepEqual(usualColumns(['First name', 'LAST_NAME', 'Phone number', 'City']), [
    'first_name',
    'last_name',
    'phone_number',
    'city',
  ])
  assert.deepEqual(usualColumns(['ID', 'Name', 'First Name', 'Tel.']), [
    'external_id',
    'name',
    null,
    'phone_number',
  ])
})

it('takes each field once, by the first column that names it, and knows no other', () => {
  assert.deepEqual(usualColumns(['Phone', 'Mobile', '', 'constructor', 'x'.repeat(100_000)]), [
    'phone_number',
    null,
    null,
    null,
    null,
  ])
})
