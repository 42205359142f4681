import { BoundedMap } from '../../../runtime/bounded-map.ts'

/** The items of the conversation, as clients see them. */
export interface ScriptedItems {
  /** An item that is complete at once: sends the events of its creation. */
  add(item: Item): void
  /** Sends an event of a response and applies its effect to the conversation. */
  sendOfResponse(event: object): void
  find(id: string): Item | undefined
  /** Returns the removed item, if there was one. */
  remove(id: string): Item | undefined
}

type Item = Readonly<Record<string, unknown>> & { readonly id: string }

const maxItems = 256

export const createScriptedItems = (send: (event: object) => void): ScriptedItems => {
  const items = new BoundedMap<string, Item>({ maxSize: maxItems })

  const tell = (type: string, item: Item): void => {
    items.set(item.id, item)
    send({ type, previous_item_id: null, item })
  }

  return {
    add(item) {
      tell('conversation.item.added', item)
      tell('conversation.item.done', item)
    },
    sendOfResponse(event) {
      send(event)
      const { type, item } = event as { type?: unknown; item?: Item }
      if (!item) return
      if (type === 'response.output_item.added') tell('conversation.item.added', item)
      if (type === 'response.output_item.done') tell('conversation.item.done', item)
    },
    find: (id) => items.get(id),
    remove(id) {
      const item = items.get(id)
      if (!item) return undefined
      items.delete(id)
      send({ type: 'conversation.item.deleted', item_id: id })
      return item
    },
  }
}
