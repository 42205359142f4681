/** What a file of numbers may have. */
const maxBytes = 10 * 1024 * 1024
const maxLines = 100_000

export interface FileNumbers {
  readonly numbers: readonly { readonly line: number; readonly text: string }[]
  /** Why the file is not taken. */
  readonly refused: string | undefined
}

interface TextFile {
  readonly size: number
  text(): Promise<string>
}

/** The numbers of a text or CSV file: of each line the first cell that begins with a plus, else the first one. */
export const numbersOfFile = async (file: TextFile): Promise<FileNumbers> => {
  if (file.size > maxBytes) return { numbers: [], refused: 'The file has more than 10 MB.' }
  const lines = (await file.text()).split(/\r\n|\r|\n/)
  if (lines.length > maxLines + 1)
    return { numbers: [], refused: `The file has more than ${maxLines} lines.` }
  const numbers = lines.flatMap((line, at) => {
    const cells = line.split(/[,;\t]/).map((cell) => cell.replace(/^[\s"\uFEFF]+|[\s"]+$/g, ''))
    const text = cells.find((cell) => cell.startsWith('+')) ?? cells[0] ?? ''
    const isHeader = at === 0 && !/[0-9]/.test(text)
    if (text === '' || isHeader) return []
    return [{ line: at + 1, text: text.replace(/[\s().-]/g, '').slice(0, 100) }]
  })
  return { numbers, refused: undefined }
}
