import type { Clock } from './time.ts'

interface BoundedMapOptions<Key, Value> {
  /** Maximum number of entries. */
  readonly maxSize: number
  /** How long an entry is found after it was set; by default for as long as there is space. */
  readonly age?: { readonly maxMs: number; readonly clock: Pick<Clock, 'monotonicMs'> }
  /** Called with each evicted entry. */
  readonly onEvicted?: (key: Key, value: Value) => void
}

interface Kept<Value> {
  readonly value: Value
  readonly setAtMs: number
}

/**
 * A map for what may be forgotten: a cache, or knowledge about others. A new entry beyond `maxSize` evicts the one
 * that was set longest ago. `set` makes an entry the newest; `get` does not.
 */
export class BoundedMap<Key, Value> {
  readonly #options: BoundedMapOptions<Key, Value>
  /** In the order in which they were set, so that the first is the oldest. */
  readonly #entries = new Map<Key, Kept<Value>>()

  constructor(options: BoundedMapOptions<Key, Value>) {
    this.#options = options
  }

  /** How many entries use space, including expired ones that were not evicted yet. */
  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key)
    return entry && this.#isYoung(entry, this.#nowMs()) ? entry.value : undefined
  }

  has(key: Key): boolean {
    const entry = this.#entries.get(key)
    return entry !== undefined && this.#isYoung(entry, this.#nowMs())
  }

  set(key: Key, value: Value): void {
    const nowMs = this.#nowMs()
    this.#entries.delete(key)
    this.#entries.set(key, { value, setAtMs: nowMs })
    this.#makeRoom(nowMs)
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  /** The entries that are still found, the oldest first. */
  *[Symbol.iterator](): Generator<[Key, Value]> {
    const nowMs = this.#nowMs()
    for (const [key, entry] of this.#entries)
      if (this.#isYoung(entry, nowMs)) yield [key, entry.value]
  }

  #makeRoom(nowMs: number): void {
    for (const [key, entry] of this.#entries) {
      const isYoung = this.#isYoung(entry, nowMs)
      if (isYoung && this.#entries.size <= this.#options.maxSize) return
      this.#entries.delete(key)
      if (isYoung) this.#options.onEvicted?.(key, entry.value)
    }
  }

  #isYoung({ setAtMs }: Kept<Value>, nowMs: number): boolean {
    const { age } = this.#options
    return age === undefined || nowMs - setAtMs < age.maxMs
  }

  /** Without an age no clock is read. */
  #nowMs(): number {
    return this.#options.age?.clock.monotonicMs() ?? 0
  }
}
