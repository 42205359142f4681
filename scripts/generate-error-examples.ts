// Writes src/contract/openapi/error-examples.ts from the responses of a running API; tests/contract compares it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { collectErrorExamples } from '../tests/support/error-examples.ts'

const file = join(import.meta.dirname, '../src/contract/openapi/error-examples.ts')
const examples = await collectErrorExamples()
writeFileSync(
  file,
  `// Written by scripts/generate-error-examples.ts from responses of a running API; not to be edited.
import type { ErrorCode } from '../errors.ts'

/** A real response for each error code; ids are normalized. */
export const errorExamples: Readonly<Record<ErrorCode, Record<string, unknown>>> = ${JSON.stringify(examples, null, 2)}
`,
)
