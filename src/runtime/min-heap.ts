/** A queue whose smallest item leaves first; equal ones in no particular order. Push and pop take log n. */
export class MinHeap<Item> {
  readonly #isBefore: (left: Item, right: Item) => boolean
  readonly #items: Item[] = []

  constructor(isBefore: (left: Item, right: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#items.length
  }

  peek(): Item | undefined {
    return this.#items[0]
  }

  push(item: Item): void {
    const items = this.#items
    let at = items.length
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = items[above] as Item
      if (!this.#isBefore(item, parent)) break
      items[at] = parent
      at = above
    }
    items[at] = item
  }

  pop(): Item | undefined {
    const items = this.#items
    const top = items[0]
    const last = items.pop()
    if (items.length === 0 || last === undefined) return top
    let at = 0
    for (;;) {
      let below = at * 2 + 1
      if (below >= items.length) break
      const right = below + 1
      if (right < items.length && this.#isBefore(items[right] as Item, items[below] as Item))
        below = right
      if (!this.#isBefore(items[below] as Item, last)) break
      items[at] = items[below] as Item
      at = below
    }
    items[at] = last
    return top
  }
}
