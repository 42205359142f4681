/** The roles of addresses on loopback. Every address of 127.0.0.0/8 can be bound on Linux without preparation. */
export const productAddress = '127.0.0.1'
export const trunkAddress = '127.77.0.1'

/** Addresses of strangers, which the product does not know. */
export const strangerAddress = (number: number): string =>
  `127.66.${(number >> 8) & 255}.${number & 255}`
