import { RequestFailure } from '../client/failure.ts'

/** What the service said about one field of a form. */
export const problemOf = (error: unknown, path: string): string | undefined => {
  if (!(error instanceof RequestFailure)) return undefined
  const code = error.fields.find((field) => field.path === path)?.code
  return code?.replaceAll('_', ' ')
}

/** The members of a form by the names of its inputs. */
export const valuesOf = <Name extends string>(
  form: HTMLFormElement,
  ...names: readonly Name[]
): Record<Name, string> => {
  const data = new FormData(form)
  const values = names.map((name) => {
    const value = data.get(name)
    return [name, typeof value === 'string' ? value : ''] as const
  })
  return Object.fromEntries(values) as Record<Name, string>
}
