import assert from 'node:assert/strict'
import { it } from 'node:test'
import { silenceThatEnds } from './end-of-turn.ts'

const usual = { isGroupsAsked: false, patience: 'normal' } as const

it('a clear question and a "yes" end a turn sooner than words that go on', () => {
  const [complete, short, open, unfinished, groups] = (
    ['complete', 'short', 'open', 'unfinished', 'groups'] as const
  ).map((end) => silenceThatEnds({ ...usual, end }))
  assert.equal(complete, short)
  assert.ok(short! < open! && open! < unfinished! && unfinished! < groups!)
})

it('a number that was asked for is waited for before its first words are known', () => {
  const known = silenceThatEnds({ ...usual, end: undefined })
  assert.ok(silenceThatEnds({ ...usual, end: undefined, isGroupsAsked: true }) > known)
})

it('patience makes every silence longer', () => {
  const of = (patience: 'short' | 'normal' | 'long') =>
    silenceThatEnds({ end: 'complete', isGroupsAsked: false, patience })
  assert.ok(of('short') < of('normal') && of('normal') < of('long'))
})
