// Writes the documents that are generated from the program's own tables: `npm run docs`. Their tests compare them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
// Writes docs/api/openapi.json when it is loaded.
import './generate-openapi.ts'
import { envExample, settingsTable } from './settings-documents.ts'
import { statesDocument } from './state-drawings.ts'

const root = join(import.meta.dirname, '..')

writeFileSync(join(root, '.env.example'), envExample())
writeFileSync(join(root, 'docs/states.md'), statesDocument())
writeFileSync(
  join(root, 'docs/settings.md'),
  `# Settings

The environment comes first. A secret can also be read from the file that \`NAME_FILE\` names. An unknown name that
begins with \`OUTDIAL_\` is an error that offers the nearest one. This table is made from the program's own list
(\`npm run docs\`) and compared in its tests.

${settingsTable()}
Private and loopback addresses are allowed in these settings. What a tenant enters (tool URLs, an agent's own engine)
may not point there unless \`OUTDIAL_ALLOW_PRIVATE_NETWORK=1\`.
`,
)
