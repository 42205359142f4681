// Loaded by --import: writes every module that the program loads, one URL a line, into the file that MODULES_FILE
// names.
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const file = process.env['MODULES_FILE'] ?? ''
const urls: string[] = []
registerHooks({
  load: (url, context, nextLoad) => {
    urls.push(url)
    return nextLoad(url, context)
  },
})
process.on('exit', () => {
  appendFileSync(file, urls.join('\n'))
})
