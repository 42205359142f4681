import { z } from 'zod'
import { parseNetworks } from '../runtime/networks.ts'

/** One setting of an installation. */
export interface Setting<T> {
  /** The name of its environment variable. */
  readonly name: string
  readonly schema: z.ZodType<T, string | undefined>
  readonly meaning: string
  /** The default in the documents, if the program computes it. */
  readonly shown?: string
  /** Never printed. The file named by `NAME_FILE` can hold the value. */
  readonly secret?: true
}

export const setting = <T>(
  name: string,
  schema: z.ZodType<T, string | undefined>,
  meaning: string,
  more: { shown?: string; secret?: true } = {},
): Setting<T> => ({ name, schema, meaning, ...more })

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`)

export const port = wholeNumber(0, 65_535)
export const e164 = z
  .string()
  .regex(/^\+[1-9]\d{7,14}$/, 'must be an E.164 number such as +12025550199')
export const url = (...protocols: string[]) =>
  z.string().refine(
    (text) => {
      const parsed = URL.parse(text)
      return parsed !== null && protocols.includes(parsed.protocol.slice(0, -1))
    },
    `must be a URL beginning with ${protocols.map((name) => `${name}://`).join(' or ')}`,
  )

export const portRange = z
  .string()
  .regex(/^\d{1,5}-\d{1,5}$/, 'must be a range such as 10000-20000')
  .transform((text) => {
    const [min = 0, max = 0] = text.split('-').map(Number)
    return { min, max }
  })
  .refine(
    ({ min, max }) => min >= 1024 && max <= 65_535 && max - min >= 3,
    'must lie within 1024-65535 and hold at least four ports',
  )

export const networks = z.string().transform((text, context) => {
  try {
    return parseNetworks(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message })
    return z.NEVER
  }
})

export const optional = <T>(schema: z.ZodType<T, string>) => schema.optional()
export const providerUrl = optional(url('http', 'https'))
export const optionalText = optional(z.string())
