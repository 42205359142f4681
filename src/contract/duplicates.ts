import type { z } from 'zod'

interface Uniqueness {
  /** What no other item may have. What is no text is not compared: it is blamed for that. */
  readonly keyOf: (item: unknown) => unknown
  /** The member to blame; left out: the item itself. */
  readonly path?: string
  /** What is said of a repetition; `duplicate_item` if left out. */
  readonly message?: string
}

const wholeItem: Uniqueness = { keyOf: (item) => item }

/**
 * An array none of whose items repeats another: each repetition is blamed. Runs beside the checks of
 * the items (Zod would skip it after a failed one), so that one answer names every problem.
 */
export const uniqueItems = <Item extends z.ZodType>(
  array: z.ZodArray<Item>,
  ...rules: readonly Uniqueness[]
): z.ZodArray<Item> =>
  array.superRefine(
    (items: readonly unknown[], context) => {
      for (const { keyOf, path, message = 'duplicate_item' } of rules.length === 0
        ? [wholeItem]
        : rules) {
        for (const index of repetitions(items.map(keyOf))) {
          const at = path === undefined ? [index] : [index, path]
          context.addIssue({ code: 'custom', message, path: at })
        }
      }
    },
    { when: ({ value }) => Array.isArray(value) },
  )

/** The places of texts that stand further ahead already. */
export const repetitions = (keys: readonly unknown[]): number[] => {
  const seen = new Set<string>()
  return keys.flatMap((key, index) => {
    if (typeof key !== 'string') return []
    if (seen.has(key)) return [index]
    seen.add(key)
    return []
  })
}
