// Writes docs/api/openapi.json from the operations table: `npm run docs`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from '../src/contract/openapi/document.ts'
import { operations } from '../src/contract/operations.ts'

const file = join(import.meta.dirname, '../docs/api/openapi.json')
const document = openApiDocument(operations, 'http://127.0.0.1:4000')
writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`)
