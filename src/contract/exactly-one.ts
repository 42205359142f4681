import type { z } from 'zod'

/**
 * Refuses both forms (path of the second, `mutually_exclusive`) and neither (path of the first, `required`) (D14).
 * Runs beside the other checks of the object, so that one answer names every problem.
 */
export const exactlyOne =
  <Body extends object>(first: keyof Body & string, second: keyof Body & string) =>
  (context: z.core.ParsePayload<Body>): void => {
    const [hasFirst, hasSecond] = [first in context.value, second in context.value]
    if (hasFirst !== hasSecond) return
    context.issues.push({
      code: 'custom',
      message: hasFirst ? 'mutually_exclusive' : 'required',
      path: [hasFirst ? second : first],
      input: context.value,
      continue: true,
    })
  }
