/** Bank accounts (IBAN, ISO 13616) and social security numbers. */

const label = '[account number]'

/** Length of an IBAN by country (SWIFT's registry), because its end is not visible otherwise. */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 ' +
    'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
    'LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 ' +
    'RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

/** At most this many foreign characters may separate two characters of an IBAN. */
const maxSeparators = 3
const ibanStart = /(?<![\p{L}\p{N}])[A-Z]{2}[ .,_/\p{Pd}\u2212]{0,3}\d{2}/giu
const separator = /[ .,_/\p{Pd}\u2212]/u

const labelIbans = (text: string): string => {
  let result = ''
  let from = 0
  for (const { 0: start, index } of text.matchAll(ibanStart)) {
    if (index < from) continue
    const end = endOfIban(text, index, ibanLengths[start.slice(0, 2).toUpperCase()])
    if (end === undefined) continue
    result += text.slice(from, index) + label
    from = end
  }
  return result + text.slice(from)
}

/** The end of the IBAN that begins at `start`; `undefined` if none has a valid checksum. */
const endOfIban = (text: string, start: number, length = 0): number | undefined => {
  let compact = ''
  let separators = 0
  for (let at = start; at < text.length && compact.length < length; at += 1) {
    const character = text[at] ?? ''
    if (/[a-z\d]/i.test(character)) {
      compact += character
      separators = 0
      if (compact.length === length) return isIban(compact) ? at + 1 : undefined
    } else if (separators < maxSeparators && separator.test(character)) separators += 1
    else return undefined
  }
  return undefined
}

/** The check: country and checksum moved to the end, letters read as numbers, the result modulo 97 is 1. */
const isIban = (compact: string): boolean => {
  const moved = compact.slice(4) + compact.slice(0, 4)
  let rest = 0
  for (const character of moved) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

const socialSecurity =
  /(?<![\d.,])\d{3}[ ._\p{Pd}\u2212]{1,3}\d{2}[ ._\p{Pd}\u2212]{1,3}\d{4}(?![\d])/gu

export const labelAccounts = (text: string): string =>
  labelIbans(text).replace(socialSecurity, '[social security number]')
