import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineWriter, type LineWriterOptions } from './line-writer.ts'

const failure = (code: string): Error => Object.assign(new Error(code), { code })

/** A place that takes so many bytes before it fails; by hand. */
const createPlace = () => {
  const place = {
    text: '',
    room: Number.POSITIVE_INFINITY,
    fault: 'EAGAIN',
    sink: (bytes: Uint8Array): number => {
      if (place.room <= 0) throw failure(place.fault)
      const taken = bytes.subarray(0, place.room)
      place.text += Buffer.from(taken).toString()
      place.room -= taken.length
      return taken.length
    },
  }
  return place
}

const open = (place: { sink: LineWriterOptions['sink'] }, maxHeldBytes = 1_000) =>
  new LineWriter({ ...place, describeLoss: (count) => `${count} lost`, maxHeldBytes })

test('a line is written at once', () => {
  const place = createPlace()
  open(place).write('one\n')
  assert.equal(place.text, 'one\n')
})

test('a blocked reader gets every line once it reads again', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const place = createPlace()
  const writer = open(place)
  place.room = 2
  for (const line of ['one\n', 'two\n', 'three\n']) writer.write(line)
  assert.equal(place.text, 'on')
  place.room = Number.POSITIVE_INFINITY
  t.mock.timers.tick(50)
  assert.equal(place.text, 'one\ntwo\nthree\n')
})

test('what does not fit into memory is dropped, and counted in its place', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const place = createPlace()
  const writer = open(place, 8)
  place.room = 0
  for (let n = 0; n < 9; n += 1) writer.write(`l${n}\n`)
  place.room = Number.POSITIVE_INFINITY
  t.mock.timers.tick(50)
  writer.write('after\n')
  assert.equal(place.text, 'l0\nl1\n7 lost\nafter\n')
})

for (const fault of ['ENOSPC', 'EPIPE', 'EIO'])
  test(`a place that fails with ${fault} is tried again, and the lines are counted`, (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const place = createPlace()
    place.fault = fault
    const writer = open(place)
    place.room = 7
    for (const line of ['first\n', 'second\n', 'third\n']) writer.write(line)
    t.mock.timers.tick(1_000)
    writer.write('fourth\n')
    place.room = Number.POSITIVE_INFINITY
    t.mock.timers.tick(1_000)
    writer.write('fifth\n')
    // Half of the second is there already; what follows begins a line.
    assert.equal(place.text, 'first\ns\n3 lost\nfifth\n')
  })

test('a failing sink is not tried for every line', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let asked = 0
  const writer = open({
    sink: () => {
      asked += 1
      throw failure('ENOSPC')
    },
  })
  for (let n = 0; n < 1_000; n += 1) writer.write('line\n')
  // The first line, and once to say that it is lost.
  assert.ok(asked <= 2, String(asked))
})

test('the last lines are written before the process ends, but a blocked reader does not delay the end', () => {
  const place = createPlace()
  const writer = open(place)
  place.room = 0
  writer.write('held\n')
  writer.flush(20)
  assert.equal(place.text, '')
  place.room = Number.POSITIVE_INFINITY
  writer.flush(20)
  assert.equal(place.text, 'held\n')
})
