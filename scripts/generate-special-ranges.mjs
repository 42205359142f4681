// Writes src/numbering/special-ranges.ts: for each calling code the shortest prefixes under which the numbering
// plans in libphonenumber's metadata have special numbers (premium rate and similar) and no ordinary ones. With
// --check it writes nothing, and exits with 1 if the file differs from what it would write.
import { readFileSync, writeFileSync } from 'node:fs'
import { getCountries, getCountryCallingCode, Metadata } from 'libphonenumber-js/max'

const special = [
  ['premium_rate', 'PREMIUM_RATE'],
  ['shared_cost', 'SHARED_COST'],
  ['personal_number', 'PERSONAL_NUMBER'],
  ['pager', 'PAGER'],
  ['corporate_number', 'UAN'],
  ['voicemail_access', 'VOICEMAIL'],
]
const ordinary = ['FIXED_LINE', 'MOBILE', 'TOLL_FREE', 'VOIP']
/** Longer prefixes are too specific to say anything about neighbouring numbers. */
const maxPrefixLength = 5

/** The subset of regular expressions used in the metadata, as a tree. */
const parse = (text) => {
  let at = 0
  const alternatives = () => {
    const branches = [sequence()]
    while (text[at] === '|') {
      at += 1
      branches.push(sequence())
    }
    return { kind: 'any', branches }
  }
  const sequence = () => {
    const items = []
    while (at < text.length && text[at] !== '|' && text[at] !== ')') items.push(quantified(atom()))
    return { kind: 'all', items }
  }
  const atom = () => {
    if (text.startsWith('(?:', at)) {
      at += 3
      const group = alternatives()
      at += 1
      return group
    }
    if (text.startsWith('\\d', at)) {
      at += 2
      return { kind: 'digit', of: '0123456789' }
    }
    if (text[at] === '[') {
      const end = text.indexOf(']', at)
      const of = text
        .slice(at + 1, end)
        .replace(/(\d)-(\d)/g, (_, from, to) => '0123456789'.slice(Number(from), Number(to) + 1))
      at = end + 1
      return { kind: 'digit', of }
    }
    const of = text[at]
    if (!/\d/.test(of)) throw new Error(`unexpected ${of} in ${text}`)
    at += 1
    return { kind: 'digit', of }
  }
  const quantified = (node) => {
    if (text[at] === '?') {
      at += 1
      return { kind: 'times', node, min: 0, max: 1 }
    }
    if (text[at] !== '{') return node
    const end = text.indexOf('}', at)
    const [min, max = min] = text
      .slice(at + 1, end)
      .split(',')
      .map(Number)
    at = end + 1
    return { kind: 'times', node, min, max }
  }
  return alternatives()
}

/** Whether a number matching the tree can begin with these digits. */
const canBegin = (tree, digits) => {
  const walk = (node, at, next) => {
    if (at === digits.length) return true
    switch (node.kind) {
      case 'digit':
        return node.of.includes(digits[at]) && next(at + 1)
      case 'any':
        return node.branches.some((branch) => walk(branch, at, next))
      case 'all': {
        const from = (index) => (position) =>
          position === digits.length ||
          (index === node.items.length
            ? next(position)
            : walk(node.items[index], position, from(index + 1)))
        return from(0)(at)
      }
      case 'times': {
        const from = (count) => (position) =>
          position === digits.length ||
          (count >= node.min && next(position)) ||
          (count < node.max && walk(node.node, position, from(count + 1)))
        return from(0)(at)
      }
    }
  }
  return walk(tree, 0, (at) => at === digits.length)
}

const patterns = (callingCode, types) =>
  getCountries()
    .filter((country) => getCountryCallingCode(country) === callingCode)
    .flatMap((country) => {
      const metadata = new Metadata()
      metadata.selectNumberingPlan(country)
      return types.map((type) => metadata.type(type)?.pattern()).filter((text) => text)
    })
    .map(parse)

const prefixesOf = (specials, ordinaries) => {
  const found = []
  const descend = (prefix) => {
    if (prefix !== '') {
      if (!specials.some((tree) => canBegin(tree, prefix))) return
      if (!ordinaries.some((tree) => canBegin(tree, prefix))) return found.push(prefix)
      if (prefix.length === maxPrefixLength) return
    }
    for (const digit of '0123456789') descend(prefix + digit)
  }
  descend('')
  return found
}

const callingCodes = [
  ...new Set(getCountries().map((country) => getCountryCallingCode(country))),
].sort()
const lines = callingCodes.flatMap((callingCode) => {
  const ordinaries = patterns(callingCode, ordinary)
  return special.flatMap(([problem, type]) => {
    const prefixes = prefixesOf(patterns(callingCode, [type]), ordinaries)
    return prefixes.length === 0 ? [] : [`${callingCode} ${problem} ${prefixes.join(' ')}`]
  })
})

const file = new URL('../src/numbering/special-ranges.ts', import.meta.url)
const text = `// Written by scripts/generate-special-ranges.mjs from the metadata of libphonenumber; not to be edited.

/**
 * Calling code, why numbers there are never called, and the first digits of such national numbers: ranges in which the
 * numbering plan has no ordinary number. One line a calling code and reason.
 */
export const specialRanges = \`
${lines.join('\n')}
\`
`
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) {
  console.error(
    'special-ranges.ts is not that of the metadata: run scripts/generate-special-ranges.mjs.',
  )
  process.exitCode = 1
}
