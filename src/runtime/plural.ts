/** `1 call`, `2 calls`. */
export const plural = (count: number | bigint, noun: string): string =>
  `${count} ${noun}${Number(count) === 1 ? '' : 's'}`
