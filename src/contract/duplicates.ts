import type { z } from 'zod'

interface Uniqueness {
  /**
   * The value that no other item may have. A value that is not text is not compared, because it has its own error.
   */
  readonly keyOf: (item: unknown) => unknown
  /** The member that the error names; by default the item itself. */
  readonly path?: string
  /** The error of a repetition; `duplicate_item` by default. */
  readonly message?: string
}

const wholeItem: Uniqueness = { keyOf: (item) => item }

/**
 * An array in which no item repeats another: each repetition is an error. Runs beside the checks of the items (Zod
 * would skip it after a failed one), so that one response names every problem.
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

/** The places of texts seen before. */
const repetitions = (keys: readonly unknown[]): number[] => {
  const seen = new Set<string>()
  return keys.flatMap((key, index) => {
    if (typeof key !== 'string') return []
    if (seen.has(key)) return [index]
    seen.add(key)
    return []
  })
}
