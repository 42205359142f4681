/**
 * Foreign text (names, spoken words, responses of servers, cells of files) can contain characters that move a
 * terminal's cursor, begin a line, or change the order of neighbouring text. They are written as escapes wherever
 * such text leaves the program for a person: controls (C0, DEL, C1), line and paragraph separators, marks and
 * overrides of writing direction (Unicode UAX 9), and lone surrogates.
 */
const deceptive = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** The same but for C0: JSON has escaped what stands in its strings, and what is left is its layout. */
const deceptiveInJson = /[\u007f-\u009f\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One line without anything deceptive: `\n`, `\u001b`. A second time changes nothing. */
export const plainText = (text: string): string =>
  text.replace(deceptive, (character) => shortEscapes[character] ?? escapeOf(character))

/** A JSON text with the same meaning and nothing deceptive in it. */
export const plainJson = (json: string): string => json.replace(deceptiveInJson, escapeOf)

/** One line with a blank instead of each: for programs that do not know escapes. */
export const blankControls = (text: string): string => text.replace(deceptive, ' ')

const escapeOf = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
