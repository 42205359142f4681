/** Bounds of a password, in UTF-16 code units, as better-auth counts. */
export const minPasswordLength = 8
export const maxPasswordLength = 128
