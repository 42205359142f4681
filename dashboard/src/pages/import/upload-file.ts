import { RequestFailure } from '../../client/failure.ts'
import { send } from '../../client/send.ts'
import type { AnswerOf } from '../../client/table.ts'

/** The service refuses more as well; this spares the upload. */
const maxFileBytes = 10_000_000

/** Characters of one part, as the service takes them. */
const partCharacters = 160_000

type Uploaded = AnswerOf<'addImportPart'>

/** Sends a file part by part as it is read, so that it is never whole in memory. */
export const uploadFile = async (file: File): Promise<Uploaded> => {
  if (file.size > maxFileBytes) throw refused('The file is larger than 10 MB: split it.')
  const { id } = await send('createImport', { body: { file_name: file.name || 'file.csv' } })
  let position = 0
  let rest = ''
  const sendPart = (text: string, isLast: boolean): Promise<Uploaded> => {
    const body = { position, text, is_last: isLast }
    position += 1
    return send('addImportPart', { params: { import_id: id }, body })
  }
  for await (const text of textOf(file)) {
    rest += text
    while (rest.length > partCharacters) {
      const end = wholeCharacters(rest, partCharacters)
      await sendPart(rest.slice(0, end), false)
      rest = rest.slice(end)
    }
  }
  return sendPart(rest, true)
}

/** UTF-8, or UTF-16 with a byte order mark, as the command line reads files. */
async function* textOf(file: File): AsyncGenerator<string, void, undefined> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const encoding =
    first === 0xff && second === 0xfe
      ? 'utf-16le'
      : first === 0xfe && second === 0xff
        ? 'utf-16be'
        : 'utf-8'
  const decoder = new TextDecoder(encoding, { fatal: true })
  const reader = file.stream().getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      yield decoder.decode(value, { stream: !done })
      if (done) return
    }
  } catch (error) {
    if (error instanceof TypeError) throw refused('The file is not UTF-8 text.')
    throw error
  }
}

/** A character beyond the first 65,536 is two units, which stay together. */
const wholeCharacters = (text: string, length: number): number => {
  const unit = text.charCodeAt(length - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? length - 1 : length
}

const refused = (message: string): RequestFailure =>
  new RequestFailure(message, { status: 400, code: 'validation_error' })
